import { messageOf } from "../../api/api-error.ts";
import { useUserCount } from "../../api/users.ts";
import { Figures, sizeText, usersText } from "../../components/figures.tsx";
import { Card } from "../../components/page.tsx";
import { useMissing } from "../../components/permitted.tsx";
import { Loading, Notice } from "../../components/states.tsx";
import type { SegmentCount } from "./api.ts";

interface SizeCardProps {
  readonly count: SegmentCount | undefined;
  /** Whether there is a condition to count. */
  readonly isAsked: boolean;
  readonly error: unknown;
  readonly isOld: boolean;
}

/** How many users meet a filter, part by part, and how they can be reached. */
export function SizeCard({ count, isAsked, error, isOld }: SizeCardProps) {
  const hidesPeople = useMissing("view_pii") !== undefined;
  const all = useUserCount();
  if (error) {
    return (
      <Notice tone="warn" title="Not counted">
        {messageOf(error)}
      </Notice>
    );
  }
  if (!isAsked) {
    return (
      <Card title="Users">
        <p className="segment-size">{all && <strong>{all}</strong>} users</p>
        <p className="dim">Choose what the users of the segment did or are.</p>
      </Card>
    );
  }
  if (!count) return <Loading lines={2} />;
  const { parts = [], reach = [], counts_since: since } = count;
  return (
    <Card title="Users">
      <p className="segment-size" role="status" aria-busy={isOld}>
        <strong>{sizeText(count)}</strong> of{" "}
        {count.exact ? usersText(count.total) : (all ?? `about ${usersText(count.total)}`)} users
      </p>
      <p>{count.description}</p>
      {hidesPeople && (
        <p className="dim">
          Numbers are rounded to tens, and fewer than 20 users are not counted: you lack the
          permission view_pii.
        </p>
      )}
      {since && (
        <p className="dim">
          {Object.entries(since)
            .map(([what, time]) => `Counts ${what} since ${time.slice(0, 10)}.`)
            .join(" ")}
        </p>
      )}
      {parts.length > 1 && (
        <Figures
          label="Parts of the filter"
          head={["Condition", "Alone", "With the parts before"]}
          rows={parts.map((each) => [
            each.condition,
            sizeText(each.alone),
            sizeText(each.together),
          ])}
        />
      )}
      {reach.length > 0 && (
        <Figures
          label="Reachable by"
          head={["Channel", "Users"]}
          rows={reach.map((each) => [
            each.subscription_group_id ? `${each.name} (${each.channel})` : each.name,
            sizeText(each),
          ])}
        />
      )}
    </Card>
  );
}
