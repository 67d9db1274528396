import Type, { type Static } from "typebox";
import { NullableText, named } from "../../base/values/schemas.ts";
import type { AuditEntry } from "./store.ts";

/* Entries of the audit of identities as the admin API shows them: names and counts, no values. */

export const AuditedEffect = named("AuditedEffect", {
  field: Type.String(),
  name: Type.Optional(Type.String()),
  effect: Type.String({ description: "What happened to the field.", examples: ["kept"] }),
});

export const AuditEntryView = named("IdentityAuditEntry", {
  id: Type.String(),
  at: Type.String(),
  action: Type.Enum(["merge", "identify", "delete"]),
  call: Type.String(),
  key_name: NullableText,
  request_id: Type.String(),
  platform_id: Type.String(),
  merged_platform_id: NullableText,
  effects: Type.Array(AuditedEffect),
});

export const auditEntryView = (entry: AuditEntry): Static<typeof AuditEntryView> => ({
  id: entry.id,
  at: entry.at.toISOString(),
  action: entry.action,
  call: entry.call,
  key_name: entry.keyName,
  request_id: entry.requestId,
  platform_id: entry.profileId,
  merged_platform_id: entry.mergedProfileId,
  effects: [...entry.effects],
});
