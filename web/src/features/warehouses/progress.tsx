import { Progress as Bar } from "@mantine/core";
import { countText } from "../../components/numbers.ts";
import type { Run } from "./api.ts";

/** How many rows of a run arrived: as a bar while it runs. */
export function Progress({ run }: { readonly run: Run }) {
  const { rows_read: read, rows_expected: expected } = run;
  const failed =
    run.rows_failed_with_errors > 0 && `, ${countText(run.rows_failed_with_errors)} failed`;
  const isRunning = run.job_status === "running";
  return (
    <div>
      {isRunning && expected !== null && (
        <Bar
          value={expected === 0 ? 100 : (100 * read) / expected}
          size="sm"
          animated
          aria-label="Rows read"
        />
      )}
      {isRunning
        ? `${countText(read)}${expected === null ? "" : ` of ${countText(expected)}`} read`
        : `${countText(run.rows_synced)} synced`}
      {failed}
    </div>
  );
}
