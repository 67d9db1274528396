import { Menu } from "@mantine/core";
import { Layers, Pencil, Plus } from "lucide-react";
import { useState } from "react";
import { useSession } from "../../api/session.ts";
import { Confirm } from "../../components/confirm.tsx";
import { actions, type Column, column, DataTable } from "../../components/data-table.tsx";
import { Closing } from "../../components/dialog.tsx";
import { FormDialog } from "../../components/form.tsx";
import { Absent, Card } from "../../components/page.tsx";
import { PermissionChoice } from "../../components/permission-choice.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Empty, Notice } from "../../components/states.tsx";
import { AccessInWorkspace } from "./access-in-workspace.tsx";
import { type Access, type Person, useChangePeople } from "./api.ts";

type Dialog =
  | { readonly kind: "company" }
  | { readonly kind: "edit" | "remove"; readonly access: Access };

type CompanyPermissions = NonNullable<Person["permissions"]["companyPermissions"]>;

/** A person's permissions in the company, and in each workspace. */
export function PersonPermissions({ person }: { readonly person: Person }) {
  const { companyPermissions = [], appGroup = [] } = person.permissions;
  const { workspaces } = useSession();
  const { change } = useChangePeople();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const others = workspaces.filter((name) => appGroup.every((each) => each.appGroupName !== name));
  const isAdmin = companyPermissions.includes("admin");
  const save = (company: CompanyPermissions, groups: readonly Access[]) =>
    change(person.id, {
      permissions: { companyPermissions: company, appGroup: [...groups] },
    });
  const without = (name: string) => appGroup.filter((each) => each.appGroupName !== name);
  return (
    <>
      <Card
        title="Company permissions"
        actions={
          <PermittedButton
            needs={{ company: "admin" }}
            size="xs"
            variant="default"
            leftSection={<Pencil size={13} />}
            onClick={() => setDialog({ kind: "company" })}
          >
            Edit company permissions
          </PermittedButton>
        }
      >
        {companyPermissions.join(", ") || <span className="dim">None</span>}
        {isAdmin && <div className="dim">admin may do everything, in every workspace.</div>}
      </Card>
      <Card
        title="Workspaces"
        flush
        actions={
          <PermittedButton
            needs={{ company: "admin" }}
            size="xs"
            leftSection={<Plus size={14} />}
            disabled={others.length === 0}
            onClick={() => setDialog({ kind: "edit", access: { appGroupName: "" } })}
          >
            Add a workspace
          </PermittedButton>
        }
      >
        <DataTable
          label="Permissions by workspace"
          columns={columnsOf(setDialog)}
          rows={appGroup}
          keyOf={({ appGroupName }) => appGroupName}
          empty={
            <Empty icon={Layers} title={isAdmin ? "All workspaces" : "No workspace yet"}>
              {isAdmin
                ? "An admin of the company may do everything in each of them."
                : "The person can sign in but sees nothing. Add a workspace with permissions."}
            </Empty>
          }
        />
      </Card>
      <Closing value={close}>
        {dialog?.kind === "company" && (
          <CompanyDialog
            permissions={companyPermissions}
            save={(chosen) => save(chosen, appGroup)}
          />
        )}
        {dialog?.kind === "edit" && (
          <AccessInWorkspace
            access={dialog.access}
            workspaces={others}
            save={(access) =>
              save(
                companyPermissions,
                appGroup.some(({ appGroupName }) => appGroupName === access.appGroupName)
                  ? appGroup.map((each) =>
                      each.appGroupName === access.appGroupName ? access : each,
                    )
                  : [...appGroup, access],
              )
            }
          />
        )}
        {dialog?.kind === "remove" && (
          <Confirm
            title={`Remove ${dialog.access.appGroupName}`}
            action="Remove"
            run={() => save(companyPermissions, without(dialog.access.appGroupName))}
          >
            The person loses every permission in this workspace with the next request.
          </Confirm>
        )}
      </Closing>
    </>
  );
}

interface CompanyDialogProps {
  readonly permissions: CompanyPermissions;
  save(permissions: CompanyPermissions): Promise<unknown>;
}

const CompanyDialog = ({ permissions, save }: CompanyDialogProps) => (
  <FormDialog
    title="Company permissions"
    initial={{ permissions: [...permissions] }}
    save={({ permissions: chosen }) => save(chosen)}
  >
    {(form) => (
      <>
        <PermissionChoice of="company" {...form.getInputProps("permissions")} />
        {form.getValues().permissions.includes("admin") && (
          <Notice tone="warn">
            admin may do everything in every workspace, and give permissions to others.
          </Notice>
        )}
      </>
    )}
  </FormDialog>
);

const List = ({ of: names }: { readonly of: readonly string[] }) =>
  names.length > 0 ? names.join(", ") : <Absent />;

const columnsOf = (open: (dialog: Dialog) => void): readonly Column<Access>[] => [
  column("Workspace", { width: "16%" }, ({ appGroupName }) => <strong>{appGroupName}</strong>),
  column("Roles", { width: "16%" }, ({ appGroupPermissionSets }) => (
    <List of={(appGroupPermissionSets ?? []).map((each) => each.appGroupPermissionSetName)} />
  )),
  column("Single permissions", ({ appGroupPermissions }) => (
    <List of={appGroupPermissions ?? []} />
  )),
  column("Teams", { width: "22%" }, ({ team }) => (
    <List
      of={(team ?? []).map(({ teamName, teamPermissions = [] }) =>
        teamPermissions.length > 0 ? `${teamName} (${teamPermissions.join(", ")})` : teamName,
      )}
    />
  )),
  actions("4rem", (access) => (
    <RowActions of={access.appGroupName} needs={{ company: "admin" }}>
      <Menu.Item onClick={() => open({ kind: "edit", access })}>Edit…</Menu.Item>
      <Menu.Item onClick={() => open({ kind: "remove", access })}>Remove…</Menu.Item>
    </RowActions>
  )),
];
