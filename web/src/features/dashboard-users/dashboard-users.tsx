import { MultiSelect, Select, TextInput } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Plus, UserSearch, Users } from "lucide-react";
import type { ReactNode } from "react";
import { DEPARTMENTS } from "../../../../src/features/dashboard-users/departments.ts";
import { usePermissionSets } from "../../api/administration.ts";
import { useSession } from "../../api/session.ts";
import { inviteNew, useOwnCredentials, useSetLocalSignIn } from "../../api/sign-in.ts";
import { type Column, column } from "../../components/data-table.tsx";
import { Closing, useDialog } from "../../components/dialog.tsx";
import { tellDone, tellFailed } from "../../components/feedback.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { PagedTable } from "../../components/loaded-table.tsx";
import { Card } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Notice } from "../../components/states.tsx";
import { sentence, Tag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { sentencesOf } from "./access-in-workspace.tsx";
import { nameOfPerson, type Person, useChangePeople, usePeople } from "./api.ts";
import { LinkDialog, useIsLocalOn } from "./invitation.tsx";

const route = getRouteApi("/company/$section");

/** Who may sign in to the dashboard. */
export function DashboardUsers() {
  const { query = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const { open, dialog } = useDialog();
  return (
    <Card
      title="Dashboard users"
      about="The people who may sign in here, and their permissions."
      flush
      actions={
        <PermittedButton
          needs={{ company: "admin" }}
          size="xs"
          leftSection={<Plus size={14} />}
          onClick={() => open(<AddPerson open={open} />)}
        >
          Add a colleague
        </PermittedButton>
      }
    >
      <LocalSignIn />
      <search className="toolbar card-toolbar">
        <SearchField
          label="Find dashboard users"
          placeholder="A part of the name or of the email address"
          value={query}
          search={(wanted) => void navigate({ search: { query: wanted }, replace: true })}
        />
      </search>
      <PagedTable
        from={usePeople(query)}
        label="Dashboard users"
        columns={COLUMNS}
        rows={(page) => page.people}
        keyOf={({ id }) => id}
        opens
        empty={query ? <NobodyFound query={query} /> : <NoPeople />}
      />
      {dialog}
    </Card>
  );
}

/** Beside an identity provider, links, passwords and passkeys are off until the company allows them. */
function LocalSignIn() {
  const { data } = useOwnCredentials();
  const setLocal = useSetLocalSignIn();
  if (!data?.provider) return null;
  const { local, provider } = data;
  return (
    <div className="card-body">
      <Notice tone={local ? "warn" : "info"}>
        <div className="spread">
          {local
            ? `People may sign in with links, passwords and passkeys beside ${provider}.`
            : `People sign in with ${provider} only: links, passwords and passkeys are off.`}
          <PermittedButton
            needs={{ company: "admin" }}
            size="compact-xs"
            variant="default"
            onClick={() => void setLocal(!local).catch(tellFailed)}
          >
            {local ? "Turn them off" : "Allow them"}
          </PermittedButton>
        </div>
      </Notice>
    </div>
  );
}

const NobodyFound = ({ query }: { readonly query: string }) => (
  <Empty icon={UserSearch} title={`No dashboard user matches “${query}”`}>
    The search looks for a part of the name or of the email address.
  </Empty>
);

const NoPeople = () => (
  <Empty icon={Users} title="No dashboard users yet">
    Only the admin token can sign in so far. Add your colleagues here, each with a link, or let the
    identity provider create them with a SCIM token.
  </Empty>
);

/** The state of a person at a glance. */
export const PersonTags = ({ person }: { readonly person: Person }) => (
  <>
    {!person.active && <Tag tone="bad">Deactivated</Tag>}
    {person.permissions.companyPermissions?.includes("admin") && <Tag tone="info">Admin</Tag>}
    {person.from_scim && <Tag>SCIM</Tag>}
  </>
);

const COLUMNS: readonly Column<Person>[] = [
  column("Name", (person) => (
    <>
      <Link to="/company/dashboard-users/$id" params={{ id: person.id }} className="row-link">
        {nameOfPerson(person)}
      </Link>{" "}
      <PersonTags person={person} />
    </>
  )),
  column("Email address", { oneLine: true }, ({ user_name }) => user_name),
  column("Last sign-in", { width: "8.5rem" }, ({ last_sign_in_at }) => (
    <Time at={last_sign_in_at} />
  )),
];

/** Adds a colleague with a role, and opens their page; before it the link that invites them, if there is one. */
function AddPerson({ open }: { open(dialog: ReactNode): void }) {
  const navigate = useNavigate();
  const show = (id: string) => navigate({ to: "/company/dashboard-users/$id", params: { id } });
  const { create } = useChangePeople();
  const isLocalOn = useIsLocalOn();
  const { workspaces } = useSession();
  const { data } = usePermissionSets();
  const sets = data?.permission_sets ?? [];
  return (
    <FormDialog
      title="Add a colleague"
      action={isLocalOn ? "Add, and make a link" : "Add"}
      initial={{
        user_name: "",
        given_name: "",
        family_name: "",
        department: "marketing",
        role: "marketer" as string | null,
        workspaces: workspaces.slice(0, 1) as string[],
      }}
      validate={{ user_name: required, given_name: required }}
      save={async ({ role, workspaces: chosen, ...values }) => {
        const appGroup = chosen.map((appGroupName) => ({
          appGroupName,
          appGroupPermissionSets: role ? [{ appGroupPermissionSetName: role }] : [],
        }));
        const body = { ...values, permissions: { companyPermissions: [], appGroup } };
        const { id } = await create(body as Parameters<typeof create>[0]);
        const name = `${values.given_name} ${values.family_name}`.trim();
        tellDone(`Added ${name}.`);
        if (!isLocalOn) return show(id);
        const invitation = await inviteNew(id);
        const close = () => void show(id);
        return open(
          <Closing value={close}>
            <LinkDialog name={name} invitation={invitation} />
          </Closing>,
        );
      }}
    >
      {(form) => {
        const { role } = form.getValues();
        const permissions = sets.find(({ name }) => name === role)?.permissions ?? [];
        return (
          <>
            {!isLocalOn && (
              <Notice>The colleague signs in with the identity provider: no link is made.</Notice>
            )}
            <TextInput
              label="Email address"
              description="It cannot be changed later."
              type="email"
              data-autofocus
              {...form.getInputProps("user_name")}
            />
            <PersonFields form={form} />
            <Select
              allowDeselect
              label="Role"
              description={sentencesOf(permissions)}
              placeholder="None yet"
              clearable
              data={sets.map(({ name }) => ({ value: name, label: sentence(name) }))}
              {...form.getInputProps("role")}
            />
            <MultiSelect
              label="In these workspaces"
              data={[...workspaces]}
              searchable
              {...form.getInputProps("workspaces")}
            />
          </>
        );
      }}
    </FormDialog>
  );
}

interface Fields {
  // biome-ignore lint/suspicious/noExplicitAny: the library's own type
  getInputProps(name: any): any;
}

/** The fields that can be changed later, too. */
export const PersonFields = ({ form }: { readonly form: Fields }) => (
  <>
    <TextInput label="Given name" maxLength={255} {...form.getInputProps("given_name")} />
    <TextInput label="Family name" maxLength={255} {...form.getInputProps("family_name")} />
    <Select
      label="Department"
      data={DEPARTMENTS.map((value) => ({ value, label: sentence(value) }))}
      {...form.getInputProps("department")}
    />
  </>
);
