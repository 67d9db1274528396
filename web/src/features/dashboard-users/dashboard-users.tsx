import { Select, TextInput } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Plus, UserSearch, Users } from "lucide-react";
import { useMemo, useState } from "react";
import { DEPARTMENTS } from "../../../../src/features/dashboard-users/departments.ts";
import { morePages } from "../../api/pages.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded, Notice } from "../../components/states.tsx";
import { sentence, Tag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { nameOfPerson, type Person, useChangePeople, usePeople } from "./api.ts";

const route = getRouteApi("/company/$section");

/** Who may sign in to the dashboard. */
export function DashboardUsers() {
  const { query = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const [isAdding, setAdding] = useState(false);
  const pages = usePeople(query);
  const people = useMemo(
    () => pages.data?.pages.flatMap((page) => page.people) ?? [],
    [pages.data],
  );
  return (
    <Card
      title="Dashboard users"
      about="The people who may sign in here, and their permissions."
      flush
      actions={
        <PermittedButton
          needs="admin"
          size="xs"
          leftSection={<Plus size={14} />}
          onClick={() => setAdding(true)}
        >
          Add a person
        </PermittedButton>
      }
    >
      <search className="toolbar card-toolbar">
        <SearchField
          label="Find dashboard users"
          placeholder="A part of the name or of the email address"
          value={query}
          search={(wanted) => void navigate({ search: { query: wanted }, replace: true })}
        />
      </search>
      <Loaded from={pages}>
        {() => (
          <DataTable
            label="Dashboard users"
            columns={COLUMNS}
            rows={people}
            keyOf={({ id }) => id}
            more={morePages(pages)}
            opens
            empty={query ? <NobodyFound query={query} /> : <NoPeople />}
          />
        )}
      </Loaded>
      {isAdding && <AddPerson close={() => setAdding(false)} />}
    </Card>
  );
}

const NobodyFound = ({ query }: { readonly query: string }) => (
  <Empty icon={UserSearch} title={`No dashboard user matches “${query}”`}>
    The search looks for a part of the name or of the email address.
  </Empty>
);

const NoPeople = () => (
  <Empty icon={Users} title="No dashboard users yet">
    Only the admin token can sign in so far. Add people here, or let the identity provider create
    them with a SCIM token.
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
  {
    id: "name",
    header: "Name",
    cell: ({ row: { original: person } }) => (
      <>
        <Link to="/company/dashboard-users/$id" params={{ id: person.id }} className="row-link">
          {nameOfPerson(person)}
        </Link>{" "}
        <PersonTags person={person} />
      </>
    ),
  },
  {
    id: "address",
    header: "Email address",
    meta: { oneLine: true },
    cell: ({ row }) => row.original.user_name,
  },
  {
    id: "signed-in",
    header: "Last sign-in",
    meta: { width: "8.5rem" },
    cell: ({ row }) => (
      <span className="above">
        <Time at={row.original.last_sign_in_at} />
      </span>
    ),
  },
];

const NEW = { user_name: "", given_name: "", family_name: "", department: "engineering" };

function AddPerson({ close }: { close(): void }) {
  const { create } = useChangePeople();
  const navigate = useNavigate();
  return (
    <FormDialog
      title="Add a person"
      action="Add"
      initial={NEW}
      validate={{ user_name: required, given_name: required }}
      close={close}
      save={async (values) => {
        const { id } = await create(values as Parameters<typeof create>[0]);
        tellDone(`Added ${`${values.given_name} ${values.family_name}`.trim()}.`);
        await navigate({
          to: "/company/dashboard-users/$id",
          params: { id },
        });
      }}
    >
      {(form) => (
        <>
          <Notice>
            No mail is sent: the person signs in with the identity provider. Permissions come next.
          </Notice>
          <TextInput
            label="Email address"
            description="As the identity provider sends it. It cannot be changed later."
            type="email"
            data-autofocus
            {...form.getInputProps("user_name")}
          />
          <PersonFields form={form} />
        </>
      )}
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
      allowDeselect={false}
      data={DEPARTMENTS.map((value) => ({ value, label: sentence(value) }))}
      {...form.getInputProps("department")}
    />
  </>
);
