import Type, { type Static } from "typebox";
import {
  COMPANY_PERMISSIONS,
  TEAM_PERMISSIONS,
  WORKSPACE_PERMISSIONS,
} from "../../core/base/context/dashboard-permissions.ts";
import {
  ClosedObject,
  nullable,
  OnlySuccess,
  Success,
  succeeding,
  Text,
} from "../../core/base/values/schemas.ts";
import { byAdministratorOfCompany, endpoint, success } from "../../core/http/endpoint.ts";
import type { UserAttributes, UserServices } from "../dashboard-users/feature.ts";
import { DEPARTMENTS } from "../dashboard-users/feature.ts";
import {
  type AdministeredPerson,
  changePerson,
  createPerson,
  listPeople,
  readPerson,
  removePerson,
  signOutPerson,
} from "./administer-users.ts";

/*
 * Dashboard users without an identity provider's SCIM. Changes need the company's `admin`, which
 * has every other permission: no one can give permissions that they do not have.
 */

const PATH = "/admin/v1/dashboard-users";

const MOST_ENTRIES = 500;

const NameOf = (what: string) => Type.String({ minLength: 1, maxLength: 255, description: what });

const listOf = <Name extends string>(names: readonly Name[], description: string) =>
  Type.Array(Type.Enum([...names]), { maxItems: MOST_ENTRIES, description });

const Team = ClosedObject({
  teamName: NameOf("The name of the team."),
  teamPermissions: Type.Optional(listOf(TEAM_PERMISSIONS, "The user's permissions in the team.")),
});

const AppGroup = ClosedObject({
  appGroupName: NameOf("The name of the workspace."),
  appGroupPermissions: Type.Optional(
    listOf(WORKSPACE_PERMISSIONS, "The user's permissions in the workspace."),
  ),
  appGroupPermissionSets: Type.Optional(
    Type.Array(ClosedObject({ appGroupPermissionSetName: NameOf("The name of the set.") }), {
      maxItems: MOST_ENTRIES,
      description: "Permission sets of the user in the workspace.",
    }),
  ),
  team: Type.Optional(
    Type.Array(Team, { maxItems: MOST_ENTRIES, description: "Teams of the workspace." }),
  ),
});

const Permissions = ClosedObject(
  {
    companyPermissions: Type.Optional(
      listOf(COMPANY_PERMISSIONS, "The user's permissions in the company."),
    ),
    appGroup: Type.Optional(
      Type.Array(AppGroup, { maxItems: MOST_ENTRIES, description: "By workspace." }),
    ),
  },
  {
    title: "DashboardPermissions",
    description: "The user's permissions, under the names of the SCIM interface.",
    examples: [{ companyPermissions: [], appGroup: [{ appGroupName: "demo" }] }],
  },
);

const SHORT = { minLength: 1, maxLength: 255 };
const Name = (description: string, example: string) =>
  Text(`${description} Empty if there is none.`, example, { maxLength: 255 });

const Department = Type.Enum([...DEPARTMENTS], { description: "The department." });

const MEMBERS = {
  given_name: Name("The given name.", "Ada"),
  family_name: Name("The family name.", "Lovelace"),
  display_name: nullable(Type.String(SHORT), {
    description: "The name to show; null for given and family name.",
    examples: ["Ada Lovelace"],
  }),
  active: Type.Boolean({ description: "Whether the user may sign in." }),
  permissions: Permissions,
};

const Time = (description: string) => Text(description, "2026-01-01T12:00:00.000Z");

const Person = Type.Object(
  {
    id: Text("The id of the dashboard user, as in SCIM.", "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e"),
    user_name: Text("The email address that the user signs in with.", "ada@acme.example"),
    ...MEMBERS,
    department: Department,
    from_scim: Type.Boolean({
      description: "Whether an identity provider manages the user: it may change them back.",
    }),
    last_sign_in_at: nullable(Time("The last sign-in."), {
      description: "The last sign-in; null before the first.",
    }),
    created_at: Time("When the user was created."),
    updated_at: Time("When the user last changed."),
  },
  { title: "DashboardUser", description: "Someone who may sign in to the dashboard." },
);

const viewOf = ({ user, attributes }: AdministeredPerson): Static<typeof Person> => {
  const { name, displayName, department } = attributes as UserAttributes & {
    readonly name: { readonly givenName?: string; readonly familyName?: string };
    readonly displayName?: string;
    readonly department: Static<typeof Department>;
  };
  return {
    id: user.id,
    user_name: attributes.userName,
    given_name: name.givenName ?? "",
    family_name: name.familyName ?? "",
    display_name: displayName ?? null,
    department,
    active: attributes.active !== false,
    permissions: attributes.permissions as unknown as Static<typeof Permissions>,
    from_scim: user.fromScim,
    last_sign_in_at: user.lastSignInAt?.toISOString() ?? null,
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
  };
};

const OnePerson = Type.Object({ person: Person, message: Success });

const reads = { access: byAdministratorOfCompany("manage_company_settings") } as const;
const writes = { access: byAdministratorOfCompany("admin") } as const;

const one = {
  path: `${PATH}/:id`,
  params: Type.Object({
    id: Type.String({ format: "uuid", description: "The id of the dashboard user." }),
  }),
} as const;

const list = endpoint({
  name: "findDashboardUsers",
  ...reads,
  method: "GET",
  path: PATH,
  summary: "Lists dashboard users by user name, all or those whose name contains a text.",
  query: Type.Object({
    query: Type.Optional(
      Type.String({
        maxLength: 255,
        description: "A part of the user name or of the name; upper and lower case are the same.",
      }),
    ),
    cursor: Type.Optional(Type.String({ maxLength: 1_024 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  }),
  replies: succeeding({
    people: Type.Array(Person, { description: "The dashboard users of the page." }),
    next_cursor: Type.Optional(Type.String()),
  }),
}).handledBy(async (services: UserServices, context, { query: { limit = 50, ...query } }) => {
  const { people, ...next } = await listPeople(services, context, { ...query, limit });
  return success({ people: people.map(viewOf), ...next });
});

const create = endpoint({
  name: "addDashboardUser",
  ...writes,
  method: "POST",
  path: PATH,
  summary: "Creates a dashboard user, who can then sign in with the identity provider.",
  description:
    "Omitted department and permissions are those of scim_defaults; without them the department is required, and " +
    "the user has no permissions. No mail is sent.",
  body: ClosedObject({
    user_name: Text(
      "The email address that the identity provider sends. It cannot change.",
      "grace@acme.example",
      { maxLength: 254 },
    ),
    ...MEMBERS,
    display_name: Type.Optional(MEMBERS.display_name),
    department: Type.Optional(Department),
    active: Type.Optional(MEMBERS.active),
    permissions: Type.Optional(Permissions),
  }),
  refusals: ["CONFLICT"],
  replies: { 201: OnePerson },
}).handledBy(async (services: UserServices, context, { body }) => ({
  status: 201,
  body: { person: viewOf(await createPerson(services, context, body)), message: "success" },
}));

const read = endpoint({
  name: "readDashboardUser",
  ...reads,
  ...one,
  method: "GET",
  summary: "Reads a dashboard user with their permissions.",
  refusals: ["NOT_FOUND"],
  replies: { 200: OnePerson },
}).handledBy(async (services: UserServices, context, { params }) =>
  success({ person: viewOf(await readPerson(services, context, params.id)) }),
);

const change = endpoint({
  name: "changeDashboardUser",
  ...writes,
  ...one,
  method: "PATCH",
  summary: "Changes a dashboard user; omitted attributes stay.",
  description:
    "Permissions take effect with the user's next request; a deactivated user's sessions end. The last active user " +
    "with the company's admin permission keeps it.",
  body: Type.Partial(Type.Object({ ...MEMBERS, department: Department }), {
    additionalProperties: false,
    minProperties: 1,
  }),
  refusals: ["NOT_FOUND", "CONFLICT"],
  replies: { 200: OnePerson },
}).handledBy(async (services: UserServices, context, { params, body }) =>
  success({ person: viewOf(await changePerson(services, context, params.id, body)) }),
);

const remove = endpoint({
  name: "removeDashboardUser",
  ...writes,
  ...one,
  method: "DELETE",
  summary: "Removes a dashboard user and ends their sessions.",
  refusals: ["NOT_FOUND", "CONFLICT"],
  replies: { 200: OnlySuccess },
}).handledBy(async (services: UserServices, context, { params }) => {
  await removePerson(services, context, params.id);
  return success();
});

const signOut = endpoint({
  name: "signOutDashboardUser",
  ...writes,
  method: "DELETE",
  path: `${PATH}/:id/sessions`,
  params: one.params,
  summary: "Signs a dashboard user out in every browser.",
  refusals: ["NOT_FOUND"],
  replies: succeeding({
    sessions: Type.Integer({ description: "How many sessions ended.", examples: [2] }),
  }),
}).handledBy(async (services: UserServices, context, { params }) => {
  const sessions = await signOutPerson(services, context, params.id);
  return success({ sessions });
});

export const dashboardUserAdminEndpoints = [list, create, read, change, remove, signOut];
