import { Button, Select } from "@mantine/core";
import { getRouteApi, Navigate } from "@tanstack/react-router";
import { ListFilter, UserSearch, Users } from "lucide-react";
import { Suspense, useEffect, useMemo, useState } from "react";
import { filled, morePages } from "../../api/pages.ts";
import {
  type IdentifierKind,
  type UsersQuery,
  useUserCount,
  useUserSearch,
} from "../../api/users.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { DataTable } from "../../components/data-table.tsx";
import { useFeatures } from "../../components/feature-link.tsx";
import { firstRequest, KeysLink } from "../../components/first-request.tsx";
import { Page } from "../../components/page.tsx";
import { SearchField } from "../../components/search-field.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { ColumnChoice, columnsOf, requestedOf, useChosenColumns } from "./list-columns.tsx";

const route = getRouteApi("/w/$workspace/users");

export function UsersPage() {
  const { query, identifier, match, sort, filter } = route.useSearch();
  const navigate = route.useNavigate();
  const [isFiltering, setFiltering] = useState(false);
  const [columns, choose] = useChosenColumns();
  const UserFilter = useFeatures().find(({ userFilter }) => userFilter)?.userFilter;
  const set = (changed: { readonly [name in "sort" | "filter"]?: string }) =>
    void navigate({ search: (now) => ({ ...now, ...changed }), replace: true });
  const count = useUserCount();
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
        {UserFilter && (
          <Button
            variant={filter ? "light" : "default"}
            leftSection={<ListFilter size={15} />}
            aria-expanded={isFiltering}
            onClick={() => setFiltering(!isFiltering)}
          >
            Filter
          </Button>
        )}
        <ColumnChoice chosen={columns} choose={choose} />
      </search>
      {UserFilter && isFiltering && (
        <Suspense>
          <UserFilter key={filter} filter={filter} change={(wanted) => set({ filter: wanted })} />
        </Suspense>
      )}
      {match === "exact" && query ? (
        <TheOne key={query} query={query} />
      ) : (
        <Found
          query={query}
          identifier={identifier as IdentifierKind}
          filter={filter}
          sort={sort}
          columns={columns}
          set={set}
        />
      )}
    </Page>
  );
}

/** Opens the one user who has this identifier; the search if there is none, or more than one. */
function TheOne({ query }: { readonly query: string }) {
  const workspace = useWorkspace();
  return (
    <Loaded from={useUserSearch({ query, match: "exact" })}>
      {({ pages }) => {
        const [only, ...others] = pages.flatMap(({ users }) => users);
        if (!only || others.length > 0) {
          return <Found query={query} />;
        }
        const params = { workspace, id: only.platform_id };
        return <Navigate to="/w/$workspace/users/$id" params={params} replace />;
      }}
    </Loaded>
  );
}

interface FoundProps {
  readonly query: string | undefined;
  readonly identifier?: IdentifierKind | undefined;
  readonly filter?: string | undefined;
  readonly sort?: string | undefined;
  readonly columns?: readonly string[];
  set?(changed: { readonly sort?: string; readonly filter?: string }): void;
}

/** How many users a filter finds by itself, and in how many pages at most; the next ones are the person's. */
const SCREENFUL = 50;
const MOST_PAGES = 20;

const FIRST_COLUMNS = ["name", "email"];

function Found({
  query,
  identifier,
  filter,
  sort = "",
  columns: chosen = FIRST_COLUMNS,
  set,
}: FoundProps) {
  const workspace = useWorkspace();
  const requested = requestedOf(chosen);
  const found = useUserSearch({
    ...filled({ query, filter }),
    ...(query && identifier && { identifier }),
    ...(!query && sort && { sort: sort as NonNullable<UsersQuery["sort"]> }),
    ...(requested.length > 0 && { columns: requested }),
  });
  const columns = useMemo(() => columnsOf(workspace, chosen), [workspace, chosen]);
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = found;
  const users = useMemo(() => found.data?.pages.flatMap((page) => page.users) ?? [], [found.data]);
  const looked = found.data?.pages.length ?? 0;
  // A page looks at some thousand users, and few of them may meet the filter.
  const goesOn = filter && users.length < SCREENFUL && looked < MOST_PAGES && hasNextPage;
  useEffect(() => {
    if (goesOn && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [goesOn, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  return (
    <Loaded from={found}>
      {() => (
        // The users of the query before this one stay in sight while this one is being answered.
        <div aria-busy={found.isPlaceholderData}>
          {filter && (
            <p className="toolbar">
              <bdi>{found.data?.pages[0]?.filtered_by}</bdi>
              <Button size="compact-xs" variant="default" onClick={() => set?.({ filter: "" })}>
                Show all users
              </Button>
            </p>
          )}
          <DataTable
            label="Users"
            columns={columns}
            rows={users}
            keyOf={(user) => user.platform_id}
            more={morePages(found)}
            order={query || !set ? undefined : { by: sort, change: (by) => set({ sort: by }) }}
            opens
            empty={filter ? <NobodyMeets /> : query ? <NobodyFound query={query} /> : <NoUsers />}
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

const NobodyMeets = () => (
  <Empty icon={UserSearch} title="Nobody meets the filter">
    Change the filter, or show all users.
  </Empty>
);

const NoUsers = () => (
  <Empty icon={Users} title="No users yet" command={firstRequest(location.origin)}>
    The first event, purchase or attribute of a user creates the profile. Send one with an{" "}
    <KeysLink />:
  </Empty>
);
