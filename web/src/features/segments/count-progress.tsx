import { Progress as Bar } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useWorkspace } from "../../api/workspace.ts";
import { tellFailed } from "../../components/feedback.tsx";
import { usersText } from "../../components/figures.tsx";
import { countText } from "../../components/numbers.ts";
import { PermittedButton } from "../../components/permitted.tsx";
import { type CountJob, cancelCount } from "./api.ts";

interface CountProgressProps {
  readonly count: CountJob;
  /** The subject of the count, if several counts are shown. */
  readonly of?: string;
}

/** How far an exact count has come, and a button that cancels it. */
export function CountProgress({ count, of }: CountProgressProps) {
  const workspace = useWorkspace();
  const { count_id, counted, matching } = count;
  const expected = Math.max(count.expected, counted);
  const cancelling = useMutation({
    mutationFn: () => cancelCount(workspace, count_id),
    onError: tellFailed,
  });
  return (
    <div className="stack">
      <Bar
        value={expected === 0 ? 100 : (100 * counted) / expected}
        animated
        aria-label="Users counted"
      />
      <p>
        {countText(counted)} of about {countText(expected)} users counted, {usersText(matching)} of
        them meet the filter.
      </p>
      <div>
        <PermittedButton
          needs="edit_segments"
          size="xs"
          variant="default"
          loading={cancelling.isPending}
          aria-label={of === undefined ? "Cancel the count" : `Cancel the count: ${of}`}
          onClick={() => cancelling.mutate()}
        >
          Cancel the count
        </PermittedButton>
      </div>
    </div>
  );
}
