import Type, { type Static } from "typebox";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import {
  ClosedObject,
  Cursor,
  NullableText,
  named,
  OfWorkspace,
  succeeding,
  Text,
  TextOrNull,
} from "../../core/base/values/schemas.ts";
import type { Database } from "../../core/database/database.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import type { IdentityServices } from "../../core/people/identity/change-identities.ts";
import type { Name } from "../../core/people/profiles/written.ts";
import { type ListedMerge, listMerges } from "./list-merges.ts";
import type { UndoEffect } from "./separate.ts";
import { undoMerge } from "./undo-merge.ts";

const PATH = "/admin/v1/workspaces/:name/merges";

const User = Type.Object({ platform_id: Type.String(), external_id: NullableText });

const MergedUser = Type.Object(
  {
    ...User.properties,
    user_aliases: Type.Array(
      Type.Object({ alias_name: Type.String(), alias_label: Type.String() }),
      {
        description: "Aliases of the user before the merge.",
      },
    ),
  },
  { description: "The user who was merged away." },
);

const MergeView = named("UserMerge", {
  id: Type.String({ description: "The id of its entry in the identity audit.", format: "uuid" }),
  at: Type.String({ description: "ISO 8601." }),
  kind: Type.Enum(["merge", "identify"], { description: "identify: by /users/identify." }),
  kept: Type.Object(User.properties, { description: "The user who was kept." }),
  merged: MergedUser,
  by: Text("The name of the API key or person, otherwise the call.", "POST /users/merge"),
  undoable_until: TextOrNull(
    "Until when it can be undone; null if it was not recorded, or was undone.",
    "2026-03-02T12:00:00.000Z",
  ),
  undone_at: TextOrNull("When it was undone; null if it was not.", "2026-02-01T12:00:00.000Z"),
});

/** Names are known for as long as the merge can be undone. */
const mergeView = ({ entry, record, undoableUntil }: ListedMerge): Static<typeof MergeView> => ({
  id: entry.id,
  at: entry.at.toISOString(),
  kind: entry.action,
  kept: { platform_id: entry.profileId, external_id: record?.kept.externalId ?? null },
  merged: {
    platform_id: entry.mergedProfileId,
    external_id: record?.merged.fields.externalId ?? null,
    user_aliases: [...(record?.merged.fields.aliases ?? [])],
  },
  by: entry.keyName ?? entry.call,
  undoable_until: undoableUntil?.toISOString() ?? null,
  undone_at: entry.undoneAt?.toISOString() ?? null,
});

const list = endpoint({
  name: "listMerges",
  method: "GET",
  path: PATH,
  summary: "Lists merges of users, newest first, and until when each can be undone.",
  access: byAdministratorOfWorkspace("view_user_profile", "view_pii"),
  params: OfWorkspace,
  query: Type.Object({
    user: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        description:
          "A platform_id, external_id, email address or phone number of a user who was kept or merged, or an alias name of a merged one.",
      }),
    ),
    cursor: Cursor,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
  }),
  replies: succeeding({
    merges: Type.Array(MergeView, { description: "Newest first." }),
    cursor: TextOrNull(
      "Continues the list; null at its end.",
      "019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11",
    ),
  }),
}).handledBy(
  async (services: { readonly database: Database } & AuditingServices, context, { query }) => {
    const { limit = 100, ...wanted } = query;
    const { merges, cursor } = await listMerges(services, context, { ...wanted, limit });
    const users = new Set(merges.flatMap(({ entry }) => [entry.profileId, entry.mergedProfileId]));
    await recordRead(services, context, "merges", users.size);
    return success({ merges: merges.map(mergeView), cursor });
  },
);

const userView = ({ platformId, externalId }: Name) => ({
  platform_id: platformId,
  external_id: externalId,
});

/** More characters of effects are shown without their values. */
const MOST_CHARACTERS = 8 * 1_048_576;

function effectsView(effects: readonly UndoEffect[]) {
  if (JSON.stringify(effects).length <= MOST_CHARACTERS) return [...effects];
  return effects.map(({ field, name, effect }) => ({
    field,
    ...(name !== undefined && { name }),
    effect,
    kept: null,
    merged: null,
    result: null,
  }));
}

const UndoEffectView = named("UndoEffect", {
  field: Type.String(),
  name: Type.Optional(Type.String()),
  effect: Type.Enum(["returned", "stays", "restored", "subtracted"], {
    description:
      "returned: the kept user loses it. stays: the kept user has another value now. restored: it was never the kept user's. subtracted: a count.",
  }),
  kept: Type.Unknown({ description: "What the kept user has before the undo." }),
  merged: Type.Unknown({ description: "What the returning user has." }),
  result: Type.Unknown({ description: "What the kept user has afterwards." }),
});

const undo = endpoint({
  name: "undoMerge",
  method: "POST",
  path: `${PATH}/:id/undo`,
  summary: "Undoes a merge of two users, or previews what that would do.",
  description:
    "The merged user comes back as they were; the kept user loses exactly what came from them; whatever happened after the merge stays with the kept user. 409 has a `code`: docs/errors.md.",
  access: byAdministratorOfWorkspace("import_update_user_data", "view_pii"),
  params: Type.Object({
    name: Type.String(),
    id: Type.String({ format: "uuid", description: "The id of the merge." }),
  }),
  body: ClosedObject({ dry_run: Type.Optional(Type.Boolean({ description: "Changes nothing." })) }),
  examples: { "A preview": { dry_run: true } },
  refusals: ["NOT_FOUND", "CONFLICT"],
  replies: succeeding({
    merged: Type.Object(User.properties, { description: "The user who is back." }),
    kept: Type.Object(User.properties, { description: "The user who was kept." }),
    effects: Type.Array(UndoEffectView),
  }),
}).handledBy(async (services: IdentityServices & AuditingServices, context, { params, body }) => {
  const isDryRun = body.dry_run === true;
  const undone = await undoMerge(services, context, params.id.toLowerCase(), isDryRun);
  if (isDryRun) await recordRead(services, context, "merge", 2);
  return success({
    merged: userView(undone.merged),
    kept: userView(undone.kept),
    effects: effectsView(undone.effects),
  });
});

export const undoEndpoints = [list, undo];
