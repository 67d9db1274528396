import Type from "typebox";
import { type AuditingServices, recordRead } from "../../admin/audit/audit.ts";
import { Problem } from "../../base/problem.ts";
import { OfWorkspace, succeeding } from "../../base/values/schemas.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../http/endpoint.ts";
import { checkEmailIdentifier } from "../profiles/identifiers.ts";
import type { PeopleServices } from "../profiles/write-people.ts";
import { Joined, JoinedQuery, listJoined } from "./joined-spellings.ts";
import { HistoryEntry, HistoryQuery, readHistory } from "./read-history.ts";
import type { ReadServices } from "./read-status.ts";
import { eraseEmailState } from "./set-email-states.ts";

const historyEndpoint = endpoint({
  name: "listSubscriptionHistory",
  method: "GET",
  path: "/admin/v1/workspaces/:name/subscription-history",
  summary: "Lists changes of subscription states with actor and time, newest first.",
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: OfWorkspace,
  query: HistoryQuery,
  replies: succeeding({
    changes: Type.Array(HistoryEntry),
    next_cursor: Type.Optional(Type.String()),
  }),
}).handledBy(async (services: ReadServices & AuditingServices, context, { query }) => {
  const history = await readHistory(services, context, query);
  const users = new Set(history.changes.map(({ platform_id, email }) => platform_id ?? email));
  await recordRead(services, context, "subscription_history", users.size);
  return success(history);
});

const eraseEmailStateEndpoint = endpoint({
  name: "eraseEmailState",
  method: "DELETE",
  path: "/admin/v1/workspaces/:name/email-states/:email",
  summary: "Erases the email state of an address and its history.",
  access: byAdministratorOfWorkspace("import_update_user_data"),
  params: Type.Object({ name: Type.String(), email: Type.String() }),
  replies: succeeding({ erased: Type.Boolean() }),
}).handledBy(async (services: PeopleServices, context, { params }) => {
  const checked = checkEmailIdentifier(params.email);
  if ("fault" in checked) throw new Problem("INVALID_REQUEST", checked.fault.message);
  const erased = await eraseEmailState(services, context, checked.value);
  return success({ erased });
});

const joinedEndpoint = endpoint({
  name: "listJoinedSpellings",
  method: "GET",
  path: "/admin/v1/workspaces/:name/joined-spellings",
  summary: "Lists spellings of addresses that an upgrade made one address with another spelling.",
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: OfWorkspace,
  query: JoinedQuery,
  replies: succeeding({
    spellings: Type.Array(Joined, { description: "In the order of the addresses." }),
    next_cursor: Type.Optional(Type.String()),
  }),
}).handledBy(async (services: ReadServices & AuditingServices, context, { query }) => {
  const joined = await listJoined(services, context, query);
  await recordRead(services, context, "joined_spellings", joined.spellings.length);
  return success(joined);
});

export const subscriptionAdminEndpoints = [
  historyEndpoint,
  eraseEmailStateEndpoint,
  joinedEndpoint,
];
