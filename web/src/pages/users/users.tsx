import { Select } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { UserSearch, Users } from "lucide-react";
import { useMemo } from "react";
import { morePages } from "../../api/pages.ts";
import { type FoundUser, type IdentifierKind, useUserSearch } from "../../api/users.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { firstRequest, KeysLink } from "../../components/first-request.tsx";
import { Absent, Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Failure, Loading } from "../../components/states.tsx";
import { Tag } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { nameOf } from "./name-of.ts";

const route = getRouteApi("/w/$workspace/users");

export function UsersPage() {
  const { workspace } = route.useParams();
  const { query, identifier } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title="Users" about="Everyone this workspace knows, by external id.">
      <search className="toolbar">
        <SearchField
          label="Find users"
          placeholder="External id, alias, email, phone number or platform id"
          value={query}
          isFirst
          search={(wanted) =>
            void navigate({ search: (now) => ({ ...now, query: wanted }), replace: true })
          }
        />
        <Select
          aria-label="Kind of identifier"
          w="11rem"
          value={identifier ?? ""}
          allowDeselect={false}
          data={[
            { value: "", label: "Any identifier" },
            { value: "external_id", label: "External id" },
            { value: "alias", label: "Alias" },
            { value: "email", label: "Email" },
            { value: "phone", label: "Phone" },
          ]}
          onChange={(kind) =>
            void navigate({ search: (now) => ({ ...now, identifier: kind ?? "" }), replace: true })
          }
        />
      </search>
      <Found workspace={workspace} query={query} identifier={identifier as IdentifierKind} />
    </Page>
  );
}

interface FoundProps {
  readonly workspace: string;
  readonly query: string | undefined;
  readonly identifier: IdentifierKind | undefined;
}

function Found({ workspace, query, identifier }: FoundProps) {
  const found = useUserSearch(workspace, query ? { query, ...(identifier && { identifier }) } : {});
  const columns = useMemo(() => columnsOf(workspace), [workspace]);
  const users = useMemo(() => found.data?.pages.flatMap((page) => page.users) ?? [], [found.data]);
  if (found.isPending) return <Loading />;
  if (found.isError && !found.data) {
    return <Failure error={found.error} retry={() => void found.refetch()} />;
  }
  return (
    <DataTable
      label="Users"
      columns={columns}
      rows={users}
      keyOf={(user) => user.platform_id}
      more={morePages(found)}
      opens
      empty={query ? <NobodyFound query={query} /> : <NoUsers workspace={workspace} />}
    />
  );
}

const NobodyFound = ({ query }: { readonly query: string }) => (
  <Empty icon={UserSearch} title={`No user matches “${query}”`}>
    The search compares the beginning of an external id, alias name, email address or phone number.
    Upper and lower case matter, except in addresses.
  </Empty>
);

const NoUsers = ({ workspace }: { readonly workspace: string }) => (
  <Empty icon={Users} title="No users yet" command={firstRequest(location.origin)}>
    The first event, purchase or attribute of a user creates the profile. Send one with an{" "}
    <KeysLink workspace={workspace} />:
  </Empty>
);

const columnsOf = (workspace: string): readonly Column<FoundUser>[] => [
  {
    id: "user",
    header: "User",
    cell: ({ row: { original: user } }) => (
      <Link
        to="/w/$workspace/users/$id"
        params={{ workspace, id: user.platform_id }}
        className="row-link clamped"
        title={nameOf(user)}
        dir="auto"
      >
        {nameOf(user)}
      </Link>
    ),
  },
  {
    id: "email",
    header: "Email",
    meta: { oneLine: true },
    cell: ({ row }) => row.original.email ?? <Absent />,
  },
  {
    id: "phone",
    header: "Phone",
    meta: { width: "10rem" },
    cell: ({ row }) => row.original.phone ?? <Absent />,
  },
  {
    id: "aliases",
    header: "Aliases",
    meta: { oneLine: true },
    cell: ({ row }) =>
      row.original.user_aliases.slice(0, 3).map(({ alias_label, alias_name }) => (
        <Tag key={`${alias_label}:${alias_name}`}>
          {alias_label}: {alias_name}
        </Tag>
      )),
  },
  {
    id: "updated",
    header: "Updated",
    meta: { width: "8.5rem" },
    cell: ({ row }) => (
      <span className="above">
        <Time at={row.original.updated_at} />
      </span>
    ),
  },
];
