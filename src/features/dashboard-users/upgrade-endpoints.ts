import Type from "typebox";
import { named, succeeding, Text, TextOrNull } from "../../core/base/values/schemas.ts";
import type { Database } from "../../core/database/database.ts";
import { readSteps } from "../../core/database/migrations/steps.ts";
import { byAdministrator, endpoint, success } from "../../core/http/endpoint.ts";
import { countUserNames } from "./punycode-users.ts";

const upgradesEndpoint = endpoint({
  name: "listUpgradeSteps",
  method: "GET",
  path: "/admin/v1/upgrades",
  summary: "Lists what upgrades did to stored data, and the dashboard users that they left to you.",
  access: byAdministrator("manage_company_settings"),
  replies: succeeding({
    steps: Type.Array(
      named("UpgradeStep", {
        name: Text("addresses, or user names (docs/decisions/addresses.md).", "addresses"),
        finished_at: TextOrNull(
          "When it was done; null while it is not, and then no server serves.",
          "2026-01-01T12:00:00.000Z",
        ),
        counts: Type.Record(Type.String(), Type.Integer(), {
          description: "Rows by what was done with them.",
          examples: [{ identifiers: 120, identifiers_joined: 3 }],
        }),
      }),
      { description: "What had to be done to stored rows, the latest of each name." },
    ),
    users_apart: Type.Array(
      named("UserApart", {
        id: Type.String({ description: "The dashboard user." }),
        user_name: Text("The userName, as it was written.", "k@xn--mnchen-3ya.example"),
      }),
      {
        description:
          "Dashboard users whose name is another user's in punycode: they are still two.",
      },
    ),
  }),
}).handledBy(async ({ database }: { readonly database: Database }) => {
  const steps = await readSteps(database);
  const { apart } = await countUserNames(database);
  return success({
    steps: steps.map(({ name, finishedAt, report }) => ({
      name,
      finished_at: finishedAt?.toISOString() ?? null,
      counts: report,
    })),
    users_apart: apart.map(({ id, userName }) => ({ id, user_name: userName })),
  });
});

export const upgradeEndpoints = [upgradesEndpoint];
