import { hooks, refresh, type Schemas, type Sent } from "../../api/client.ts";
import { TEAMS } from "../../api/entries.ts";
import { BY_CURSOR, filled } from "../../api/pages.ts";

/* Dashboard users and the teams that their permissions name. */

const PEOPLE = "/admin/v1/dashboard-users";
const PERSON = `${PEOPLE}/{id}` as const;

/** A dashboard user. */
export type Person = Schemas["DashboardUser"];

/** Under the names of SCIM. */
export type Permissions = Person["permissions"];

/** The permissions of a person in one workspace. */
export type Access = NonNullable<Permissions["appGroup"]>[number];

type NewPerson = Sent<"addDashboardUser">;
type Change = Sent<"changeDashboardUser">;

export const nameOfPerson = ({ display_name, given_name, family_name }: Person): string =>
  display_name ?? `${given_name} ${family_name}`.trim();

export const usePeople = (query: string) =>
  hooks.useInfiniteQuery(
    "get",
    PEOPLE,
    { params: { query: { ...filled({ query }), limit: 100 } } },
    { ...BY_CURSOR, placeholderData: (shown) => shown },
  );

export const usePerson = (id: string) =>
  hooks.useQuery("get", PERSON, { params: { path: { id } } });

export function useChangePeople() {
  const onSuccess = () => refresh(PEOPLE);
  const create = hooks.useMutation("post", PEOPLE, { onSuccess });
  const change = hooks.useMutation("patch", PERSON, { onSuccess });
  const remove = hooks.useMutation("delete", PERSON);
  const signOut = hooks.useMutation("delete", `${PERSON}/sessions`);
  const of = (id: string) => ({ params: { path: { id } } });
  return {
    create: async (body: NewPerson) => (await create.mutateAsync({ body })).person,
    change: (id: string, body: Change) => change.mutateAsync({ ...of(id), body }),
    remove: (id: string) => remove.mutateAsync(of(id)),
    /** @returns how many sessions ended. */
    signOut: async (id: string) => (await signOut.mutateAsync(of(id))).sessions,
    /** Reads the list again, once the page of a person who was removed is left. */
    refresh: onSuccess,
  };
}

export const useTeams = (name: string) =>
  hooks.useQuery("get", TEAMS, { params: { path: { name } } }, { enabled: name !== "" });
