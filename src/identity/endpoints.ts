import Type from "typebox";
import { endpoint, withPermission } from "../http/endpoint.ts";
import { ItemNote } from "../http/verdicts.ts";
import type { IdentityServices } from "./change-identities.ts";
import { deleteUsers } from "./delete-users.ts";
import { removeExternalIds, renameExternalIds } from "./external-ids.ts";
import { identifyUsers } from "./identify-users.ts";
import { mergeUsers } from "./merge-users.ts";
import { addAliases } from "./new-aliases.ts";
import { renameAliases } from "./rename-aliases.ts";

const Success = Type.Literal("success");

const Count = Type.Integer({ minimum: 0 });

/** The elements are checked one by one (items.ts); here they are only described. */
const Elements = (description: string) => Type.Array(Type.Unknown(), { description });

const DryRun = Type.Optional(
  Type.Boolean({ description: "Changes nothing and answers with what would happen." }),
);

const Result = Type.Object({
  input_array: Type.String(),
  index: Count,
  outcome: Type.Enum([
    "added",
    "created",
    "renamed",
    "identified",
    "merged",
    "deleted",
    "removed",
    "skipped",
  ]),
});

/** What every answer may tell about single items. */
const NOTES = {
  skipped: Type.Optional(Type.Array(ItemNote)),
  dry_run: Type.Optional(Type.Literal(true)),
  results: Type.Optional(Type.Array(Result)),
};

const AliasesProcessed = Type.Object({
  aliases_processed: Count,
  message: Success,
  ...NOTES,
});

const newAliases = endpoint({
  method: "POST",
  path: "/users/alias/new",
  summary: "Gives users aliases, or makes alias-only users.",
  access: withPermission("users.alias.new"),
  body: Type.Object({
    user_aliases: Elements("At most 50 new user alias objects."),
    dry_run: DryRun,
  }),
  replies: { 201: AliasesProcessed },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { count, notes } = await addAliases(services, context, body.user_aliases, body.dry_run);
  return { status: 201, body: { aliases_processed: count, message: "success", ...notes } };
});

const updateAliases = endpoint({
  method: "POST",
  path: "/users/alias/update",
  summary: "Gives aliases another name.",
  access: withPermission("users.alias.update"),
  body: Type.Object({
    alias_updates: Elements("At most 50 objects with alias_label, old_alias_name, new_alias_name."),
    dry_run: DryRun,
  }),
  replies: { 201: AliasesProcessed },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { count, notes } = await renameAliases(services, context, body.alias_updates, body.dry_run);
  return { status: 201, body: { aliases_processed: count, message: "success", ...notes } };
});

const identify = endpoint({
  method: "POST",
  path: "/users/identify",
  summary: "Gives unidentified users an external_id, or combines them into the users that have it.",
  access: withPermission("users.identify"),
  body: Type.Object({
    aliases_to_identify: Type.Optional(Elements("At most 50 alias to identify objects.")),
    emails_to_identify: Type.Optional(
      Elements("At most 50 objects with external_id, email and prioritization."),
    ),
    phone_numbers_to_identify: Type.Optional(
      Elements("At most 50 objects with external_id, phone and prioritization."),
    ),
    merge_behavior: Type.Optional(Type.Enum(["none", "merge"])),
    dry_run: DryRun,
  }),
  replies: { 201: AliasesProcessed },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { count, notes } = await identifyUsers(services, context, body, body.dry_run);
  return { status: 201, body: { aliases_processed: count, message: "success", ...notes } };
});

const merge = endpoint({
  method: "POST",
  path: "/users/merge",
  summary: "Merges users into others.",
  access: withPermission("users.merge"),
  body: Type.Object({
    // Checked by the use case, in the words that clients know.
    merge_updates: Type.Optional(
      Type.Unknown({ description: "An array of at most 50 merge update objects." }),
    ),
    dry_run: DryRun,
  }),
  replies: { 202: Type.Object({ message: Success, ...NOTES }) },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const notes = await mergeUsers(services, context, body.merge_updates, body.dry_run);
  return { status: 202, body: { message: "success", ...notes } };
});

const Kind = Type.Optional(Elements("At most 50; one kind in a request."));

const remove = endpoint({
  method: "POST",
  path: "/users/delete",
  summary: "Deletes users with everything about them.",
  access: withPermission("users.delete"),
  body: Type.Object({
    external_ids: Kind,
    user_aliases: Kind,
    platform_ids: Kind,
    braze_ids: Kind,
    email_addresses: Kind,
    phone_numbers: Kind,
    dry_run: DryRun,
  }),
  replies: { 201: Type.Object({ deleted: Count, message: Success, ...NOTES }) },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { count, notes } = await deleteUsers(services, context, body, body.dry_run);
  return { status: 201, body: { deleted: count, message: "success", ...notes } };
});

const ExternalIdError = Type.Array(ItemNote, {
  description: "Why an item had no effect.",
});

const renameIds = endpoint({
  method: "POST",
  path: "/users/external_ids/rename",
  summary: "Gives users another external_id; the old one keeps leading to the user.",
  access: withPermission("users.external_ids.rename"),
  body: Type.Object({
    external_id_renames: Elements("At most 50 objects with current_external_id, new_external_id."),
  }),
  replies: {
    201: Type.Object({
      external_ids: Type.Array(Type.String(), { description: "The new ids that took effect." }),
      rename_errors: ExternalIdError,
      message: Success,
    }),
  },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { externalIds, errors } = await renameExternalIds(
    services,
    context,
    body.external_id_renames,
  );
  return {
    status: 201,
    body: { external_ids: externalIds, rename_errors: errors, message: "success" },
  };
});

const removeIds = endpoint({
  method: "POST",
  path: "/users/external_ids/remove",
  summary: "Ends the redirects of external ids that were renamed or merged away.",
  access: withPermission("users.external_ids.remove"),
  body: Type.Object({ external_ids: Elements("At most 50 deprecated external ids.") }),
  replies: {
    201: Type.Object({
      removed_ids: Type.Array(Type.String(), { description: "The ids that were removed." }),
      removal_errors: ExternalIdError,
      message: Success,
    }),
  },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { removedIds, errors } = await removeExternalIds(services, context, body.external_ids);
  return {
    status: 201,
    body: { removed_ids: removedIds, removal_errors: errors, message: "success" },
  };
});

export const identityEndpoints = [
  newAliases,
  updateAliases,
  renameIds,
  removeIds,
  identify,
  merge,
  remove,
];
