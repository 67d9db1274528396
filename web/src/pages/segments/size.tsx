import { messageOf } from "../../api/api-error.ts";
import type { SegmentCount } from "../../api/segments.ts";
import { Card } from "../../components/page.tsx";
import { Loading, Notice } from "../../components/states.tsx";

interface Size {
  readonly matching: number;
  readonly low: number;
  readonly high: number;
}

const number = (value: number): string => value.toLocaleString("en");

/** A number of users, with its interval if it is an estimate. */
export const sizeText = ({ matching, low, high }: Size): string =>
  low === high ? number(matching) : `about ${number(matching)} (${number(low)} to ${number(high)})`;

interface SizeCardProps {
  readonly count: SegmentCount | undefined;
  readonly error: unknown;
  readonly isOld: boolean;
}

/** How many users meet a filter, part by part, and how they can be reached. */
export function SizeCard({ count, error, isOld }: SizeCardProps) {
  if (error) {
    return (
      <Notice tone="warn" title="Not counted">
        {messageOf(error)}
      </Notice>
    );
  }
  if (!count) return <Loading lines={2} />;
  const { parts = [], reach = [], counts_since: since } = count;
  return (
    <Card title="Users">
      <p className="segment-size" role="status" aria-busy={isOld}>
        <strong>{sizeText(count)}</strong> of {count.exact ? "" : "about "}
        {number(count.total)} users
      </p>
      <p>{count.description}</p>
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

interface FiguresProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const Figures = ({ label, head, rows }: FiguresProps) => (
  <table className="figures" aria-label={label}>
    <thead>
      <tr>
        {head.map((each) => (
          <th key={each} scope="col">
            {each}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((cells, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two parts may say the same
        <tr key={index}>
          {cells.map((cell, place) => (
            <td key={head[place]}>{cell}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);
