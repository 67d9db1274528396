import Type, { type Static } from "typebox";
import { listWorkspaces } from "../../core/admin/workspaces/manage-workspaces.ts";
import {
  COMPANY_PERMISSIONS,
  WORKSPACE_PERMISSIONS,
} from "../../core/base/context/dashboard-permissions.ts";
import type { Session } from "../../core/base/context/person.ts";
import { nullable, Text } from "../../core/base/values/schemas.ts";
import type { Database } from "../../core/database/database.ts";

const Time = (description: string) => Text(description, "2026-01-01T13:00:00.000Z");

export const SessionView = Type.Object(
  {
    person: Type.Object(
      {
        user_name: Text(
          "The email address; administrator for the admin token.",
          "ada@acme.example",
        ),
        display_name: Text("How to address the person.", "Ada Lovelace"),
        id: nullable(Type.String(), {
          description: "The dashboard user; null for the administrator.",
        }),
      },
      { description: "Who is signed in." },
    ),
    administrator: Type.Boolean({ description: "Whether the person may do everything." }),
    permissions: Type.Object({
      company: Type.Array(Type.Enum([...COMPANY_PERMISSIONS]), {
        description: "The person's permissions in the company.",
      }),
      workspaces: Type.Record(Type.String(), Type.Array(Type.Enum([...WORKSPACE_PERMISSIONS])), {
        description: "By the name of the workspace; admin comes with everything that it includes.",
      }),
    }),
    workspaces: Type.Array(Type.String(), {
      description: "The workspaces in which the person has any permission.",
    }),
    csrf_token: Text(
      "For the header X-CSRF-Token of requests that change something.",
      "Z0hKQv1cJtXo2m8v3b4w5x6y7z8A9B0C1D2E3F4G5H6",
    ),
    expires_at: Time("When the session ends if it is not used any more."),
  },
  { title: "Session", description: "Who is signed in to the dashboard." },
);

/** The dashboard's view of a session, with the present permissions. */
export async function viewSession(
  { database }: { readonly database: Database },
  { person, csrfToken, expiresAt }: Session,
): Promise<Static<typeof SessionView>> {
  const all = (await listWorkspaces(database)).map(({ name }) => name);
  const permissionsIn = (workspace: string) =>
    person.isAdministrator
      ? [...WORKSPACE_PERMISSIONS]
      : [...(person.workspacePermissions.get(workspace) ?? [])];
  const seen = all.filter((name) => permissionsIn(name).length > 0);
  return {
    person: { user_name: person.userName, display_name: person.displayName, id: person.userId },
    administrator: person.isAdministrator,
    permissions: {
      company: [...person.companyPermissions],
      workspaces: Object.fromEntries(seen.map((name) => [name, permissionsIn(name)])),
    },
    workspaces: seen,
    csrf_token: csrfToken,
    expires_at: expiresAt.toISOString(),
  };
}
