import { getRouteApi } from "@tanstack/react-router";
import { DatabaseZap, Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { Page } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { StateTag, sentence } from "../../components/tag.tsx";
import { type Integration, useIntegrations } from "./api.ts";
import { EditIntegration } from "./edit-integration.tsx";
import { tellSchedule } from "./schedule.tsx";

const route = getRouteApi("/w/$workspace/syncs");

export function SyncsPage() {
  const { workspace } = route.useParams();
  const integrations = useIntegrations(workspace);
  const [isAdding, setAdding] = useState(false);
  const columns = useMemo(() => columnsOf(workspace), [workspace]);
  return (
    <Page
      title="Syncs"
      about="Integrations bring rows of a warehouse or of files to the users of this workspace."
      actions={
        <PermittedButton
          workspace={workspace}
          needs="manage_external_integrations"
          leftSection={<Plus size={15} />}
          onClick={() => setAdding(true)}
        >
          Add an integration
        </PermittedButton>
      }
    >
      <Loaded from={integrations}>
        {(body) => (
          <DataTable
            label="Integrations"
            columns={columns}
            rows={body.integrations}
            keyOf={({ integration_id }) => integration_id}
            opens
            empty={
              <Empty icon={DatabaseZap} title="No integrations yet">
                An integration reads a table of a warehouse, or files (Parquet, CSV, NDJSON), on a
                schedule or when you start it.
              </Empty>
            }
          />
        )}
      </Loaded>
      {isAdding && <EditIntegration workspace={workspace} close={() => setAdding(false)} />}
    </Page>
  );
}

const columnsOf = (workspace: string): readonly Column<Integration>[] => [
  {
    id: "name",
    header: "Integration",
    accessorFn: ({ name }) => name,
    cell: ({ row: { original: each } }) => (
      <DeclaredName
        of={each}
        leadsTo={{
          to: "/w/$workspace/syncs/$id",
          params: { workspace, id: each.integration_id },
        }}
      />
    ),
  },
  {
    id: "type",
    header: "Brings",
    accessorFn: ({ type }) => type,
    meta: { width: "8rem" },
    cell: ({ row }) => sentence(row.original.type),
  },
  {
    id: "warehouse",
    header: "From",
    meta: { oneLine: true },
    cell: ({ row: { original: each } }) => (
      <span className="dim">
        {each.warehouse.type}: {each.warehouse.place}
      </span>
    ),
  },
  {
    id: "schedule",
    header: "Schedule",
    meta: { width: "14rem" },
    cell: ({ row }) => tellSchedule(row.original.schedule, row.original.schedule_time_zone),
  },
  {
    id: "status",
    header: "Status",
    accessorFn: ({ status }) => status,
    meta: { width: "7rem" },
    cell: ({ row }) => <StateTag state={row.original.status} />,
  },
];
