import Type from "typebox";
import {
  type AuditingServices,
  recordRead,
  recordUserChanges,
} from "../../core/admin/audit/audit.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import {
  ClosedObject,
  named,
  OfWorkspace,
  Success,
  succeeding,
  successOf,
  Text,
  TextOrNull,
} from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import { AuditedEffect } from "../../core/people/identity/audit-view.ts";
import type { IdentityServices } from "../../core/people/identity/change-identities.ts";
import type { Effect } from "../../core/people/identity/combine/effects.ts";
import { mergeByPlatformId } from "../../core/people/identity/merge-users.ts";
import type { WriteServices } from "../../core/track/write-batch.ts";
import { changeUser } from "./change-user.ts";
import { type EraseServices, eraseUser } from "./erase-user.ts";
import { PersonRecord, readRecord } from "./read-record.ts";
import { readTimeline, TimelineQuery } from "./read-timeline.ts";
import { FoundUser, type RecordServices, searchUsers, UsersQuery } from "./search-users.ts";
import { TimelineEntry } from "./timeline-entry.ts";

interface MergeOrder {
  /** The platform_id of the user that is kept. */
  readonly into: string;
  readonly dry_run?: boolean;
}

/**
 * Merges a user into another one, as `/users/merge` does.
 *
 * @returns the effects, field by field, of the merge or of its preview.
 * @throws Problem NOT_FOUND for one of them; INVALID_REQUEST if both ids identify one user.
 */
function mergeUser(
  services: IdentityServices,
  context: WorkspaceContext,
  platformId: string,
  { into, dry_run: isDryRun = false }: MergeOrder,
): Promise<readonly Effect[]> {
  const { clock } = services;
  const keepId = into.toLowerCase();
  const workspace = context.workspace.name;
  const details = { into: keepId };
  return mergeByPlatformId(services, context, {
    mergeId: platformId,
    keepId,
    isDryRun,
    alsoWrite: (tx) =>
      recordUserChanges(tx, clock, context, [
        { action: "merged", kind: "user", workspace, name: platformId, details },
      ]),
  });
}

const PATH = "/admin/v1/workspaces/:name/users";

const OfUser = Type.Object({
  name: Type.String(),
  id: Type.String({ format: "uuid", description: "The platform_id." }),
});

/** The kept user of a merged one: the response to a request for the merged one. */
const MergedInto = Type.Object({
  merged_into: Type.String({ description: "The platform_id of the kept user." }),
  message: Success,
});

/** Leads a request for a merged user to the kept one. */
const movedTo = (workspace: string, keptId: string, suffix = "") => ({
  status: 301 as const,
  headers: {
    location: `/admin/v1/workspaces/${encodeURIComponent(workspace)}/users/${keptId}${suffix}`,
    // The target of a merged id can change.
    "cache-control": "no-store",
  },
  body: { merged_into: keptId, message: "success" as const },
});

const search = endpoint({
  name: "listUsers",
  method: "GET",
  path: PATH,
  summary:
    "Finds users by the beginning of an identifier or of words of the name, or by a whole platform_id.",
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: OfWorkspace,
  query: UsersQuery,
  replies: succeeding({
    users: Type.Array(FoundUser, {
      description: "May be fewer than the limit although another page follows.",
    }),
    filtered_by: Type.Optional(
      Text("The filter as a sentence.", "Users who match: can receive email."),
    ),
    next_cursor: Type.Optional(Type.String()),
  }),
}).handledBy(async (services: RecordServices & AuditingServices, context, { query }) => {
  const found = await searchUsers(services, context, query);
  await recordRead(services, context, "user_search", found.users.length);
  return success(found);
});

const read = endpoint({
  name: "getUser",
  method: "GET",
  path: `${PATH}/:id`,
  summary: "Reads everything that is stored about one user; a merged id gives the kept user.",
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: OfUser,
  replies: { 200: successOf(PersonRecord), 301: MergedInto },
  isHeavy: true,
  budgets: { bytesOut: 64 * 1_048_576 },
}).handledBy(async (services: StoringServices & AuditingServices, context, { params }) => {
  const record = await readRecord(services, context, params.id);
  if ("mergedInto" in record) return movedTo(params.name, record.mergedInto);
  await recordRead(services, context, "user", 1);
  return success(record);
});

const change = endpoint({
  name: "patchUser",
  method: "PATCH",
  path: `${PATH}/:id`,
  summary: "Sets attributes and subscription states of a user, checked as /users/track does.",
  access: byAdministratorOfWorkspace("import_update_user_data", "view_pii"),
  params: OfUser,
  body: ClosedObject({
    attributes: Type.Record(Type.String(), Type.Unknown(), {
      maxProperties: 250,
      description:
        "An attributes object of /users/track without an identifier: standard and custom attributes, `subscription_groups`, `email_subscribe`.",
    }),
  }),
  examples: { "An attribute": { attributes: { plan: "gold" } } },
  refusals: ["NOT_FOUND", "CONFLICT"],
  replies: succeeding({ platform_id: Type.String() }),
}).handledBy(async (services: WriteServices, context, { params, body }) => {
  await changeUser(services, context, params.id, body.attributes);
  return success({ platform_id: params.id });
});

const timeline = endpoint({
  name: "getUserTimeline",
  method: "GET",
  path: `${PATH}/:id/timeline`,
  summary:
    "Reads the events, purchases, messages, and changes of subscriptions, identity and attributes of one user, newest first.",
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: OfUser,
  query: TimelineQuery,
  replies: {
    200: Type.Object({
      entries: Type.Array(TimelineEntry),
      attributes_since: TextOrNull(
        "The time from which the page has every change of attributes, in ISO 8601; null if the change feed is off or has none.",
        "2026-01-31T12:00:00.000Z",
      ),
      next_cursor: Type.Optional(Type.String()),
      message: Success,
    }),
    301: MergedInto,
  },
}).handledBy(async (services: RecordServices & AuditingServices, context, { params, query }) => {
  const page = await readTimeline(services, context, params.id, query);
  if ("mergedInto" in page) return movedTo(params.name, page.mergedInto, "/timeline");
  await recordRead(services, context, "user_timeline", 1);
  return success({ ...page, entries: [...page.entries] });
});

const erase = endpoint({
  name: "deleteUser",
  method: "DELETE",
  path: `${PATH}/:id`,
  summary: "Erases a user: profile, history, and the state of the address if no other user has it.",
  access: byAdministratorOfWorkspace("import_update_user_data"),
  params: OfUser,
  replies: succeeding({
    platform_id: Type.String(),
    email_state: Type.Enum(["erased", "kept", "none"], {
      description: "kept: other users have the address. none: there was no state.",
    }),
    audit: Type.Object({
      id: Type.String(),
      at: Type.String(),
      effects: Type.Array(AuditedEffect, {
        description: "The audited part: names and counts, no values.",
      }),
    }),
  }),
}).handledBy(async (services: EraseServices, context, { params }) => {
  const { audit, ...erased } = await eraseUser(services, context, params.id);
  const { id, at, effects } = audit;
  return success({ ...erased, audit: { id, at: at.toISOString(), effects: [...effects] } });
});

const merge = endpoint({
  name: "mergeUser",
  method: "POST",
  path: `${PATH}/:id/merge`,
  summary: "Merges a user into another one, or previews what that would do.",
  access: byAdministratorOfWorkspace("import_update_user_data", "view_pii"),
  params: OfUser,
  body: ClosedObject({
    into: Type.String({ format: "uuid", description: "The platform_id of the kept user." }),
    dry_run: Type.Optional(Type.Boolean({ description: "Changes nothing." })),
  }),
  replies: succeeding({
    merged: Type.Boolean({ description: "false after a dry run." }),
    effects: Type.Array(
      named("MergeEffect", {
        ...AuditedEffect.properties,
        kept: Type.Unknown(),
        merged: Type.Unknown({ description: "The user that is merged away." }),
        result: Type.Unknown({ description: "The effects of the merge or of its preview." }),
      }),
    ),
  }),
}).handledBy(async (services: IdentityServices, context, { params, body }) => {
  const effects = await mergeUser(services, context, params.id, body);
  const merged = body.dry_run !== true;
  return success({ merged, effects: [...effects] });
});

export const recordEndpoints = [search, read, change, timeline, erase, merge];
