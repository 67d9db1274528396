import { Select } from "@mantine/core";
import { getRouteApi, Link, Navigate } from "@tanstack/react-router";
import { UserSearch, Users } from "lucide-react";
import { useMemo } from "react";
import { fullNameOf, nameOf } from "../../api/name-of.ts";
import { morePages } from "../../api/pages.ts";
import {
  type FoundUser,
  type IdentifierKind,
  useUserCount,
  useUserSearch,
} from "../../api/users.ts";
import { CutOff } from "../../components/cut-off.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { firstRequest, KeysLink } from "../../components/first-request.tsx";
import { Absent, Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";

const route = getRouteApi("/w/$workspace/users");

export function UsersPage() {
  const { workspace } = route.useParams();
  const { query, identifier, match } = route.useSearch();
  const navigate = route.useNavigate();
  const count = useUserCount(workspace);
  const users = count === undefined ? "" : ` ${count} in all.`;
  return (
    <Page title="Users" about={`Everyone this workspace knows, by external id.${users}`}>
      <search className="toolbar">
        <SearchField
          label="Find users"
          placeholder="Name, external id, alias, email or phone number"
          value={query}
          isFirst
          search={(wanted) =>
            void navigate({
              search: (now) => ({ ...now, query: wanted, match: "" }),
              replace: true,
            })
          }
        />
        <Select
          aria-label="What is searched"
          w="11rem"
          value={identifier ?? ""}
          allowDeselect={false}
          data={[
            { value: "", label: "Anything" },
            { value: "name", label: "Name" },
            { value: "external_id", label: "External id" },
            { value: "alias", label: "Alias" },
            { value: "email", label: "Email" },
            { value: "phone", label: "Phone" },
          ]}
          onChange={(kind) =>
            void navigate({
              search: (now) => ({ ...now, identifier: kind ?? "", match: "" }),
              replace: true,
            })
          }
        />
      </search>
      {match === "exact" && query ? (
        <TheOne key={query} workspace={workspace} query={query} />
      ) : (
        <Found workspace={workspace} query={query} identifier={identifier as IdentifierKind} />
      )}
    </Page>
  );
}

/** Opens the one user who has this identifier; the search if there is none, or more than one. */
function TheOne({ workspace, query }: { readonly workspace: string; readonly query: string }) {
  const found = useUserSearch(workspace, { query, match: "exact" });
  return (
    <Loaded from={found}>
      {({ pages }) => {
        const [only, ...others] = pages.flatMap(({ users }) => users);
        if (!only || others.length > 0) {
          return <Found workspace={workspace} query={query} identifier={undefined} />;
        }
        const params = { workspace, id: only.platform_id };
        return <Navigate to="/w/$workspace/users/$id" params={params} replace />;
      }}
    </Loaded>
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
  return (
    <Loaded from={found}>
      {() => (
        // The users of the query before this one stay in sight while this one is being answered.
        <div aria-busy={found.isPlaceholderData}>
          <DataTable
            label="Users"
            columns={columns}
            rows={users}
            keyOf={(user) => user.platform_id}
            more={morePages(found)}
            opens
            empty={query ? <NobodyFound query={query} /> : <NoUsers workspace={workspace} />}
          />
        </div>
      )}
    </Loaded>
  );
}

const NobodyFound = ({ query }: { readonly query: string }) => (
  <Empty icon={UserSearch} title={`No user matches “${query}”`}>
    The search compares the beginning of an external id, alias name, email address or phone number,
    and of each word of a name, in any order. Upper and lower case matter in external ids and
    aliases.
  </Empty>
);

const NoUsers = ({ workspace }: { readonly workspace: string }) => (
  <Empty icon={Users} title="No users yet" command={firstRequest(location.origin)}>
    The first event, purchase or attribute of a user creates the profile. Send one with an{" "}
    <KeysLink workspace={workspace} />:
  </Empty>
);

/** The first one, and how many others there are. */
function Aliases({ of: [first, ...others] }: { readonly of: FoundUser["user_aliases"] }) {
  if (!first) return <Absent />;
  return (
    <span className="first-of">
      <CutOff text={`${first.alias_label}: ${first.alias_name}`} />
      {others.length > 0 && <span className="dim">+{others.length}</span>}
    </span>
  );
}

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
    id: "name",
    header: "Name",
    cell: ({ row }) => {
      const name = fullNameOf(row.original);
      return name ? <CutOff text={name} /> : <Absent />;
    },
  },
  {
    id: "email",
    header: "Email",
    cell: ({ row: { original: user } }) => (user.email ? <CutOff text={user.email} /> : <Absent />),
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
    meta: { width: "12%" },
    cell: ({ row }) => <Aliases of={row.original.user_aliases} />,
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
