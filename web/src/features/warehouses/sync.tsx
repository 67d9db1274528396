import { Menu } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Play, RefreshCw } from "lucide-react";
import { useWorkspace } from "../../api/workspace.ts";
import { Id } from "../../components/code-block.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { type Column, column } from "../../components/data-table.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { PageLink } from "../../components/feature-link.tsx";
import { tellDone, tellFailed } from "../../components/feedback.tsx";
import { PagedTable } from "../../components/loaded-table.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { StateTag, sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import {
  type Integration,
  type Run,
  useChangeIntegrations,
  useIntegration,
  useRuns,
} from "./api.ts";
import { EditIntegration } from "./edit-integration.tsx";
import { Progress } from "./progress.tsx";
import { tellSchedule } from "./schedule.tsx";

const route = getRouteApi("/w/$workspace/syncs/$id");

export function SyncPage() {
  const { id } = route.useParams();
  const integration = useIntegration(id);
  return (
    <Loaded from={integration} page="Integration">
      {(body) => <IntegrationView integration={body} />}
    </Loaded>
  );
}

function IntegrationView({ integration }: { readonly integration: Integration }) {
  const workspace = useWorkspace();
  const { integration_id: id, name, type, status, schedule, warehouse, retry } = integration;
  const { open, dialog } = useDialog();
  const { start, remove, isStarting } = useChangeIntegrations();
  const navigate = useNavigate();
  const run = () =>
    void start(id)
      .then(() => tellDone(`${name} is running.`))
      .catch(tellFailed);
  const askToRemove = () =>
    open(
      <Confirm
        title={`Remove ${name}`}
        action="Remove"
        run={async () => {
          await remove(id);
          await navigate({ to: "/w/$workspace/syncs", params: { workspace } });
        }}
      >
        Its runs and their rows are removed with it. What it brought stays with the users.
      </Confirm>,
    );
  return (
    <Page
      title={name}
      about={<PageLink to="/w/$workspace/syncs">Syncs</PageLink>}
      actions={
        <>
          <PermittedButton
            needs="manage_external_integrations"
            leftSection={<Play size={14} />}
            loading={isStarting}
            onClick={run}
          >
            Run now
          </PermittedButton>
          <RowActions of={name} needs="manage_external_integrations">
            <Menu.Item onClick={() => open(<EditIntegration integration={integration} />)}>
              Edit…
            </Menu.Item>
            <Menu.Item onClick={askToRemove}>Remove…</Menu.Item>
          </RowActions>
        </>
      }
    >
      <div className="columns">
        <Runs id={id} />
        <Card title="Integration" flush>
          <Facts
            of={[
              ["Status", <StateTag key="status" state={status} />],
              ["Brings", sentence(type)],
              ["From", `${warehouse.type}: ${warehouse.place}`],
              ["Schedule", tellSchedule(schedule, integration.schedule_time_zone)],
              ["Attempts", `${retry.attempts}, ${retry.delay_seconds} s apart`],
              ["Contacts", integration.contact_emails || null],
              ["Id", <Id key="id" value={id} />],
            ]}
          />
        </Card>
      </div>
      {dialog}
    </Page>
  );
}

function Runs({ id }: { readonly id: string }) {
  const workspace = useWorkspace();
  return (
    <div>
      <PagedTable
        from={useRuns(id)}
        label="Runs"
        columns={columnsOf(workspace, id)}
        rows={({ results }) => results}
        keyOf={({ run_id }) => run_id}
        opens
        empty={
          <Empty icon={RefreshCw} title="Never run">
            Start the first run with “Run now”, or give the integration a schedule.
          </Empty>
        }
      />
    </div>
  );
}

const columnsOf = (workspace: string, id: string): readonly Column<Run>[] => [
  column("Run", (run) => (
    <Link
      to="/w/$workspace/syncs/$id/runs/$run"
      params={{ workspace, id, run: run.run_id }}
      className="row-link"
    >
      <Time at={run.sync_start_time} as="exact" />
    </Link>
  )),
  column("Status", { width: "7.5rem" }, ({ job_status }) => <StateTag state={job_status} />),
  column("Rows", { width: "32%" }, (each) => <Progress run={each} />),
];
