import { getRouteApi, Link } from "@tanstack/react-router";
import { CircleCheck, CircleSlash, Hourglass, Lock } from "lucide-react";
import { type Column, column } from "../../components/data-table.tsx";
import { PageLink } from "../../components/feature-link.tsx";
import { PagedTable } from "../../components/loaded-table.tsx";
import { countText } from "../../components/numbers.ts";
import { Card, Facts, Page } from "../../components/page.tsx";
import { useMissing } from "../../components/permitted.tsx";
import { Empty, Loaded, Notice } from "../../components/states.tsx";
import { StateTag, sentence, Tag } from "../../components/tag.tsx";
import { exactTime, Time } from "../../components/time.tsx";
import { type Run, type RunRow, useRun, useRunRows } from "./api.ts";
import { Progress } from "./progress.tsx";

const route = getRouteApi("/w/$workspace/syncs/$id/runs/$run");

export function RunPage() {
  const { workspace, id, run: runId } = route.useParams();
  const run = useRun(id, runId);
  return (
    <Loaded from={run} page="Run">
      {(body) => (
        <Page
          title={`Run of ${exactTime(body.run.sync_start_time)}`}
          about={
            <>
              <PageLink to="/w/$workspace/syncs">Syncs</PageLink>
              {" / "}
              <Link to="/w/$workspace/syncs/$id" params={{ workspace, id }} className="link">
                Integration
              </Link>
            </>
          }
        >
          <div className="stack">
            <Outcome run={body.run} />
            <Rows id={id} run={body.run} />
          </div>
        </Page>
      )}
    </Loaded>
  );
}

function Outcome({ run }: { readonly run: Run }) {
  return (
    <Card title="Outcome" flush>
      {run.message && (
        <div className="card-body">
          <Notice tone={run.job_status === "running" ? "info" : "bad"}>{run.message}</Notice>
        </div>
      )}
      <Facts
        of={[
          ["Status", <StateTag key="status" state={run.job_status} />],
          ["Progress", <Progress key="progress" run={run} />],
          ["Read", countText(run.rows_read)],
          ["Synced", countText(run.rows_synced)],
          ["Skipped", countText(run.rows_skipped)],
          ["Failed", countText(run.rows_failed_with_errors)],
          ...(run.bytes_scanned === null
            ? []
            : ([["Scanned", `${countText(run.bytes_scanned)} bytes`]] as const)),
          ["Finished", <Time key="end" at={run.sync_finish_time} absent="Not yet" as="exact" />],
          [
            "Synced through",
            run.last_timestamp_synced && <span className="mono">{run.last_timestamp_synced}</span>,
          ],
        ]}
      />
    </Card>
  );
}

interface RowsProps {
  readonly id: string;
  readonly run: Run;
}

/** The rows that did not arrive, each with the reason: they have personal data. */
function Rows(props: RowsProps) {
  const missing = useMissing(["manage_external_integrations", "view_pii"]);
  return (
    <Card title="Rows that did not arrive" flush>
      {missing === undefined ? (
        <RejectedRows {...props} />
      ) : (
        <Empty icon={Lock} title="You may not see this">
          {missing}
        </Empty>
      )}
    </Card>
  );
}

const RejectedRows = ({ id, run }: RowsProps) => (
  <PagedTable
    from={useRunRows(id, run.run_id)}
    lines={3}
    label="Rows that did not arrive"
    columns={COLUMNS}
    rows={({ results }, page) => results.map((row, place) => ({ ...row, key: `${page} ${place}` }))}
    keyOf={({ key }) => key}
    empty={<NoRows run={run} />}
  />
);

/** A run that read nothing, because its source failed, says nothing about its rows. */
function NoRows({ run: { rows_read, job_status } }: { readonly run: Run }) {
  if (job_status === "running") return <Empty icon={Hourglass} title="None so far" />;
  if (rows_read === 0) return <Empty icon={CircleSlash} title="The run read no rows" />;
  return <Empty icon={CircleCheck} title="Every row arrived" />;
}

type Keyed = RunRow & { readonly key: string };

const COLUMNS: readonly Column<Keyed>[] = [
  column("Row", (row) =>
    Object.entries(row.identity).map(([name, value]) => (
      <div key={name}>
        <span className="dim">{name}</span> {value}
      </div>
    )),
  ),
  column("Outcome", { width: "7rem" }, (row) => (
    <Tag tone={row.outcome === "failed" ? "bad" : "warn"}>{sentence(row.outcome)}</Tag>
  )),
  column("Why", (row) => (
    <>
      <code>{row.code}</code>
      {row.field && <span className="dim"> {row.field}</span>}
      <div>{row.message}</div>
    </>
  )),
  column("UPDATED_AT", { width: "24%" }, ({ updated_at }) => (
    <span className="mono">{updated_at}</span>
  )),
];
