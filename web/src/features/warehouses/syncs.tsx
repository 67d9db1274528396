import { DatabaseZap } from "lucide-react";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { List } from "../../components/list.tsx";
import { StateTag, sentence } from "../../components/tag.tsx";
import { type Integration, useIntegrations } from "./api.ts";
import { EditIntegration } from "./edit-integration.tsx";
import { tellSchedule } from "./schedule.tsx";

export function SyncsPage() {
  const { open, dialog } = useDialog();
  return (
    <List
      isPage
      title="Syncs"
      about="Integrations bring rows of a warehouse or of files to the users of this workspace."
      icon={DatabaseZap}
      purpose="An integration reads a table of a warehouse, or files (Parquet, CSV, NDJSON), on a schedule or when you start it."
      needs="manage_external_integrations"
      adds="Add an integration"
      add={() => open(<EditIntegration />)}
      from={useIntegrations()}
      label="Integrations"
      columns={COLUMNS}
      rows={(body) => body.integrations}
      keyOf={({ integration_id }) => integration_id}
      opens
    >
      {dialog}
    </List>
  );
}

const COLUMNS: readonly Column<Integration>[] = [
  column("Integration", { sortBy: "name" }, (each) => (
    <DeclaredName of={each} page="/w/$workspace/syncs/$id" id={each.integration_id} />
  )),
  column("Brings", { sortBy: "type", width: "8rem" }, ({ type }) => sentence(type)),
  column("From", { oneLine: true }, (each) => (
    <span className="dim">
      {each.warehouse.type}: {each.warehouse.place}
    </span>
  )),
  column("Schedule", { width: "14rem" }, ({ schedule, schedule_time_zone }) =>
    tellSchedule(schedule, schedule_time_zone),
  ),
  column("Status", { sortBy: "status", width: "7rem" }, ({ status }) => (
    <StateTag state={status} />
  )),
];
