import { Menu, Select, TextInput } from "@mantine/core";
import { Plus, Smartphone } from "lucide-react";
import { useState } from "react";
import { useApps, useChangeApps } from "../../api/administration.ts";
import { Id } from "../../components/code-block.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { newId } from "../../components/new-id.ts";
import { Card } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Empty, Loaded } from "../../components/states.tsx";

/** With the names that their makers give them. */
const PLATFORMS: Readonly<Record<string, string>> = {
  android: "Android",
  fire_os: "Fire OS",
  ios: "iOS",
  macos: "macOS",
  roku: "Roku",
  tvos: "tvOS",
  unity: "Unity",
  web: "Web",
  windows: "Windows",
};

interface App {
  readonly id: string;
  readonly name: string;
  readonly platform: string;
  readonly declared: boolean;
}

type Dialog = { readonly kind: "edit" | "remove"; readonly app: App };

export function Apps({ workspace }: { readonly workspace: string }) {
  const apps = useApps(workspace);
  const { put, remove } = useChangeApps(workspace);
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const create = () =>
    setDialog({ kind: "edit", app: { id: newId(), name: "", platform: "web", declared: false } });
  return (
    <Card
      title="Apps"
      about="Where events, purchases and push tokens come from. They name an app by its id."
      flush
      actions={
        <PermittedButton
          workspace={workspace}
          needs="manage_apps"
          size="xs"
          leftSection={<Plus size={14} />}
          onClick={create}
        >
          Add an app
        </PermittedButton>
      }
    >
      <Loaded from={apps}>
        {(body) => (
          <DataTable
            label="Apps"
            columns={columnsOf(workspace, setDialog)}
            rows={body.apps}
            keyOf={({ id }) => id}
            empty={
              <Empty icon={Smartphone} title="No apps yet">
                Events, purchases and push tokens name the app that they come from (app_id).
              </Empty>
            }
          />
        )}
      </Loaded>
      {dialog?.kind === "edit" && (
        <FormDialog
          title={dialog.app.name ? `Edit ${dialog.app.name}` : "Add an app"}
          initial={{ name: dialog.app.name, platform: dialog.app.platform }}
          validate={{ name: required }}
          close={close}
          save={(values) => put(dialog.app.id, values)}
        >
          {(form) => (
            <>
              <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
              <Select
                label="Platform"
                allowDeselect={false}
                data={Object.entries(PLATFORMS).map(([value, label]) => ({ value, label }))}
                {...form.getInputProps("platform")}
              />
            </>
          )}
        </FormDialog>
      )}
      {dialog?.kind === "remove" && (
        <Confirm
          title={`Remove ${dialog.app.name}`}
          action="Remove"
          close={close}
          run={() => remove(dialog.app.id)}
        >
          Requests that name it are refused from then on. What is stored stays.
        </Confirm>
      )}
    </Card>
  );
}

const columnsOf = (workspace: string, open: (dialog: Dialog) => void): readonly Column<App>[] => [
  {
    id: "name",
    header: "Name",
    cell: ({ row }) => <DeclaredName of={row.original} />,
  },
  {
    id: "platform",
    header: "Platform",
    meta: { width: "8rem" },
    cell: ({ row: { original: app } }) => PLATFORMS[app.platform] ?? app.platform,
  },
  {
    id: "id",
    header: "app_id",
    meta: { width: "42%" },
    cell: ({ row }) => <Id value={row.original.id} />,
  },
  {
    id: "actions",
    header: () => <span className="hidden">Actions</span>,
    meta: { width: "4rem", end: true },
    cell: ({ row: { original: app } }) => (
      <RowActions of={app.name} needed={{ workspace, needs: "manage_apps" }}>
        <Menu.Item onClick={() => open({ kind: "edit", app })}>Edit…</Menu.Item>
        <Menu.Item onClick={() => open({ kind: "remove", app })}>Remove…</Menu.Item>
      </RowActions>
    ),
  },
];
