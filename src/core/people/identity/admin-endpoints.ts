import Type from "typebox";
import { type AuditingServices, recordRead } from "../../admin/audit/audit.ts";
import { OfWorkspace, succeeding } from "../../base/values/schemas.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../http/endpoint.ts";
import { AuditEntryView, auditEntryView } from "./audit-view.ts";
import { AuditQuery, readAudit } from "./read-audit.ts";

const auditEndpoint = endpoint({
  name: "listIdentityAudit",
  method: "GET",
  path: "/admin/v1/workspaces/:name/identity-audit",
  summary:
    "Lists merges, identifications and deletions of users with actor and time, newest first.",
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: OfWorkspace,
  query: AuditQuery,
  replies: succeeding({
    entries: Type.Array(AuditEntryView),
    next_cursor: Type.Optional(Type.String()),
  }),
}).handledBy(async (services: StoringServices & AuditingServices, context, { query }) => {
  const { rows, next } = await readAudit(services, context, query);
  const users = new Set(rows.flatMap((row) => [row.profileId, row.mergedProfileId ?? []]).flat());
  await recordRead(services, context, "identity_audit", users.size);
  const entries = rows.map(auditEntryView);
  return success({ entries, ...next });
});

export const identityAdminEndpoints = [auditEndpoint];
