import type { ReactNode } from "react";
import { countText } from "./numbers.ts";

/* Numbers of users, which may be estimates, and small tables of them. */

interface Size {
  /** Null for fewer than 20 users, of whom the person may not see how many they are. */
  readonly matching: number | null;
  readonly low: number;
  readonly high: number;
}

/** A number of users; null for few of them. */
export const usersText = (users: number | null): string =>
  users === null ? "fewer than 20" : countText(users);

/** The same with its interval, if it is an estimate or rounded. */
export function sizeText({ matching, low, high }: Size): string {
  if (low === high || (matching === null && high < 20)) return usersText(matching);
  if (matching === 0) return `at most ${countText(high)}`;
  const about = matching === null ? usersText(null) : `about ${countText(matching)}`;
  return `${about} (${countText(low)} to ${countText(high)})`;
}

interface FiguresProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly ReactNode[])[];
}

/** A small table that is shown whole. */
export const Figures = ({ label, head, rows }: FiguresProps) => (
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
