import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useWorkspace } from "../../api/workspace.ts";
import { tellFailed } from "../../components/feedback.tsx";
import { usersText } from "../../components/figures.tsx";
import { countText } from "../../components/numbers.ts";
import { Card } from "../../components/page.tsx";
import { PermittedButton, useMissing } from "../../components/permitted.tsx";
import { Time } from "../../components/time.tsx";
import {
  countExactly,
  type FilterJson,
  refreshSizes,
  type Segment,
  useCountJob,
  useCounts,
  useSegmentSizes,
} from "./api.ts";
import { CountProgress } from "./count-progress.tsx";

interface ExactCountProps {
  readonly filter: FilterJson;
  /** The stored segment, if its filter is this one. */
  readonly segment: Segment | undefined;
}

interface Result {
  readonly matching: number | null;
  readonly total: number;
  readonly at: string;
}

/** Counts all users who meet a filter: its progress, and the last result with its time. */
export function ExactCount({ filter, segment }: ExactCountProps) {
  const workspace = useWorkspace();
  const counting = useMutation({
    mutationFn: async () => {
      const wanted = segment ? { segment_id: segment.id } : { filter };
      const found = await countExactly(workspace, wanted);
      await refreshSizes();
      return { found, at: new Date().toISOString() };
    },
    onError: tellFailed,
  });
  // One that was started elsewhere is followed to its end, too.
  const [followed, follow] = useState<string>();
  const started = counting.data && "count_id" in counting.data.found && counting.data.found;
  const running = useRunningCount(segment);
  if (running && running.count_id !== followed) follow(running.count_id);
  const job = useCountJob(started ? started.count_id : followed).data;
  const status = job?.status;
  useEffect(() => {
    if (status === "finished") void refreshSizes();
  }, [status]);
  const result = useLast(segment, resultOf(counting.data, job));
  return (
    <Card
      title="Exact count"
      actions={
        <PermittedButton
          needs="edit_segments"
          size="xs"
          variant="default"
          loading={counting.isPending}
          disabled={status === "running"}
          onClick={() => counting.mutate()}
        >
          Count exactly
        </PermittedButton>
      }
    >
      <div role="status">
        {status === "cancelled" && <p>The count was cancelled.</p>}
        {status === "failed" && <p>The count failed. {job?.failure}</p>}
        {result ? (
          <p>
            <strong>{usersText(result.matching)}</strong> of {countText(result.total)} users,
            counted <Time at={result.at} />.
          </p>
        ) : (
          status !== "running" && <p className="dim">Goes through all users.</p>
        )}
      </div>
      {job && status === "running" && <CountProgress count={job} />}
    </Card>
  );
}

type Counted = { readonly found: object; readonly at: string } | undefined;
type Job = ReturnType<typeof useCountJob>["data"];

/** The size that a request or a job has counted. */
function resultOf(counted: Counted, job: Job): Result | undefined {
  if (job?.status === "finished") {
    return { matching: job.matching, total: job.counted, at: job.finished_at ?? "" };
  }
  if (!counted || "count_id" in counted.found) return undefined;
  return { ...(counted.found as Omit<Result, "at">), at: counted.at };
}

/** The newer of the count made here and the stored one of the segment. */
function useLast(segment: Segment | undefined, here: Result | undefined) {
  const { data } = useSegmentSizes();
  const kept = data?.segments.find(({ id }) => id === segment?.id)?.counted ?? undefined;
  return here && (!kept || here.at >= kept.at) ? here : kept;
}

/** A count of the segment that runs or waits since before this page was opened. */
function useRunningCount(segment: Segment | undefined) {
  const missing = useMissing("edit_segments");
  const { data } = useCounts(segment !== undefined && missing === undefined);
  return data?.counts.find(
    ({ segment_id, status }) => segment_id === segment?.id && status === "running",
  );
}
