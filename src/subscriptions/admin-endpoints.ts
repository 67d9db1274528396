import Type from "typebox";
import { type AuditingServices, recordRead } from "../audit/audit.ts";
import { byAdministratorOfWorkspace, endpoint } from "../http/endpoint.ts";
import { checkEmailIdentifier } from "../people/identifiers.ts";
import { Problem } from "../problem.ts";
import { readHistory } from "./read-history.ts";
import type { ReadServices } from "./read-status.ts";
import { eraseEmailState } from "./set-email-states.ts";
import type { SetServices } from "./set-group-states.ts";

const Success = Type.Literal("success");

const OfWorkspace = Type.Object({ name: Type.String() });

const NullableText = Type.Union([Type.String(), Type.Null()]);

const historyEndpoint = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces/:name/subscription-history",
  summary: "Lists changes of subscription states with actor and time, newest first.",
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: OfWorkspace,
  query: Type.Object({
    external_id: Type.Optional(Type.String()),
    email: Type.Optional(Type.String()),
    subscription_group_id: Type.Optional(Type.String()),
    since: Type.Optional(Type.String({ description: "ISO 8601; included." })),
    until: Type.Optional(Type.String({ description: "ISO 8601; not included." })),
    cursor: Type.Optional(Type.String({ description: "The next_cursor of the previous page." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  }),
  replies: {
    200: Type.Object({
      changes: Type.Array(
        Type.Object({
          id: Type.String(),
          changed_at: Type.String(),
          subscription_group_id: NullableText,
          subscription_state: Type.Enum(["subscribed", "unsubscribed", "opted_in"]),
          platform_id: NullableText,
          external_id: NullableText,
          email: NullableText,
          call: Type.String(),
          key_name: NullableText,
          request_id: Type.String(),
        }),
      ),
      next_cursor: Type.Optional(Type.String()),
      message: Success,
    }),
  },
}).handledBy(async (services: ReadServices & AuditingServices, context, { query }) => {
  const history = await readHistory(services, context, query);
  const users = new Set(history.changes.map(({ platform_id, email }) => platform_id ?? email));
  await recordRead(services, context, "subscription_history", users.size);
  return { status: 200, body: { ...history, message: "success" } };
});

const eraseEmailStateEndpoint = endpoint({
  method: "DELETE",
  path: "/admin/v1/workspaces/:name/email-states/:email",
  summary: "Erases the email state of an address and its history.",
  access: byAdministratorOfWorkspace("import_update_user_data"),
  params: Type.Object({ name: Type.String(), email: Type.String() }),
  replies: { 200: Type.Object({ erased: Type.Boolean(), message: Success }) },
}).handledBy(async (services: SetServices, context, { params }) => {
  const checked = checkEmailIdentifier(params.email);
  if ("fault" in checked) throw new Problem("INVALID_REQUEST", checked.fault.message);
  const erased = await eraseEmailState(services, context, checked.value);
  return { status: 200, body: { erased, message: "success" } };
});

export const subscriptionAdminEndpoints = [historyEndpoint, eraseEmailStateEndpoint];
