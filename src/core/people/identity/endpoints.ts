import Type, { type TSchema } from "typebox";
import { named, Success, Text } from "../../base/values/schemas.ts";
import { ItemNote } from "../../base/verdicts.ts";
import { described, firstExample } from "../../http/described.ts";
import { endpoint, withPermission } from "../../http/endpoint.ts";
import { ExternalId, PlatformId, UserAlias } from "../profiles/profile-schemas.ts";
import type { IdentityServices } from "./change-identities.ts";
import { deleteUsers } from "./delete-users.ts";
import { removeExternalIds, renameExternalIds } from "./external-ids.ts";
import { identifyUsers } from "./identify-users.ts";
import {
  AliasToIdentify,
  AliasUpdate,
  EmailSelector,
  EmailToIdentify,
  ExternalIdRename,
  MergeUpdate,
  NewUserAlias,
  PhoneSelector,
  PhoneToIdentify,
} from "./item-schemas.ts";
import { type MergingServices, mergeUsers } from "./merge-users.ts";
import { addAliases } from "./new-aliases.ts";
import { previewOf } from "./preview.ts";
import { renameAliases } from "./rename-aliases.ts";

const Count = Type.Integer({ minimum: 0 });

/** Checked one by one (items.ts), so that a refusal lists every faulty one. */
const Elements = (schema: TSchema, description: string) =>
  Type.Array(described(schema), { minItems: 1, description });

const DRY_RUN = {
  dry_run: Type.Optional(
    Type.Boolean({
      description: "Changes nothing and returns a preview.",
      examples: [false],
    }),
  ),
  cursor: Type.Optional(
    Text("The `next_cursor` of a dry run whose results did not fit into one response.", "12"),
  ),
};

const Result = named("ItemOutcome", {
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

/** The notes about single items that every response may have. */
const NOTES = {
  skipped: Type.Optional(Type.Array(ItemNote)),
  dry_run: Type.Optional(Type.Literal(true)),
  results: Type.Optional(Type.Array(Result)),
  next_cursor: Type.Optional(Type.String()),
};

const AliasesProcessed = Type.Object({
  aliases_processed: Count,
  message: Success,
  ...NOTES,
});

const newAliases = endpoint({
  name: "createUserAliases",
  method: "POST",
  path: "/users/alias/new",
  summary: "Gives users aliases, or creates alias-only users.",
  examples: {
    "An alias for a user": { user_aliases: [firstExample(NewUserAlias)] },
    "An alias-only user": {
      user_aliases: [{ alias_name: "visitor-4712", alias_label: "web_visitor" }],
    },
  },
  access: withPermission("users.alias.new"),
  body: Type.Object({
    user_aliases: Elements(NewUserAlias, "At most 50 aliases."),
    ...DRY_RUN,
  }),
  replies: { 201: AliasesProcessed },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { count, notes } = await addAliases(services, context, body.user_aliases, previewOf(body));
  return { status: 201, body: { aliases_processed: count, message: "success", ...notes } };
});

const updateAliases = endpoint({
  name: "renameUserAliases",
  method: "POST",
  path: "/users/alias/update",
  summary: "Gives aliases another name.",
  examples: { "A rename": { alias_updates: [firstExample(AliasUpdate)] } },
  access: withPermission("users.alias.update"),
  body: Type.Object({
    alias_updates: Elements(AliasUpdate, "At most 50 renames."),
    ...DRY_RUN,
  }),
  replies: { 201: AliasesProcessed },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { count, notes } = await renameAliases(
    services,
    context,
    body.alias_updates,
    previewOf(body),
  );
  return { status: 201, body: { aliases_processed: count, message: "success", ...notes } };
});

const identify = endpoint({
  name: "identifyUsers",
  method: "POST",
  path: "/users/identify",
  summary: "Gives unidentified users an external_id, or combines them into the users that have it.",
  examples: {
    "By alias": {
      aliases_to_identify: [firstExample(AliasToIdentify)],
      merge_behavior: "merge",
    },
    "By email address": { emails_to_identify: [firstExample(EmailToIdentify)] },
    "By phone number": { phone_numbers_to_identify: [firstExample(PhoneToIdentify)] },
  },
  access: withPermission("users.identify"),
  body: Type.Object({
    aliases_to_identify: Type.Optional(Elements(AliasToIdentify, "At most 50 users, by alias.")),
    emails_to_identify: Type.Optional(
      Elements(EmailToIdentify, "At most 50 users, by email address."),
    ),
    phone_numbers_to_identify: Type.Optional(
      Elements(PhoneToIdentify, "At most 50 users, by phone number."),
    ),
    merge_behavior: Type.Optional(Type.Enum(["none", "merge"])),
    ...DRY_RUN,
  }),
  replies: { 201: AliasesProcessed },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { count, notes } = await identifyUsers(services, context, body, previewOf(body));
  return { status: 201, body: { aliases_processed: count, message: "success", ...notes } };
});

const merge = endpoint({
  name: "mergeUsers",
  method: "POST",
  path: "/users/merge",
  summary: "Merges users into others.",
  description:
    "Applied in array order, all or none. The kept user receives the values it lacks; counts, sums and dates are combined. The merge is complete when the response arrives. `merge_updates` is required.",
  examples: {
    "By external_id": { merge_updates: [firstExample(MergeUpdate)] },
    "An email-only user into an identified one": {
      merge_updates: [
        {
          identifier_to_merge: {
            email: "ada@example.com",
            prioritization: ["unidentified", "most_recently_updated"],
          },
          identifier_to_keep: { external_id: "ada" },
        },
      ],
    },
    "A preview": { merge_updates: [firstExample(MergeUpdate)], dry_run: true },
  },
  access: withPermission("users.merge"),
  body: Type.Object({
    // Checked by the use case, in the words that clients know.
    merge_updates: Type.Optional(
      described(
        Type.Array(MergeUpdate, { maxItems: 50, description: "At most 50 merges, done in order." }),
      ),
    ),
    ...DRY_RUN,
  }),
  replies: { 202: Type.Object({ message: Success, ...NOTES }) },
}).handledBy(async (services: MergingServices, context, { body }) => {
  const notes = await mergeUsers(services, context, body.merge_updates, previewOf(body));
  return { status: 202, body: { message: "success", ...notes } };
});

const Kind = (element: TSchema, what: string) =>
  Type.Optional(Elements(element, `At most 50 ${what}. One kind of identifier per request.`));

const remove = endpoint({
  name: "deleteUsers",
  method: "POST",
  path: "/users/delete",
  summary: "Deletes users with everything about them.",
  description: "One kind of identifier per request, at most 50. This cannot be undone.",
  examples: {
    "By external_id": { external_ids: ["grace"] },
    "By alias": { user_aliases: [{ alias_name: "visitor-4711", alias_label: "web_visitor" }] },
    "By email address": { email_addresses: [firstExample(EmailSelector)] },
  },
  access: withPermission("users.delete"),
  body: Type.Object({
    external_ids: Kind(ExternalId, "external ids"),
    user_aliases: Kind(UserAlias, "aliases"),
    platform_ids: Kind(PlatformId, "platform ids"),
    braze_ids: Kind(PlatformId, "platform ids, in another spelling"),
    email_addresses: Kind(EmailSelector, "email addresses"),
    phone_numbers: Kind(PhoneSelector, "phone numbers"),
    ...DRY_RUN,
  }),
  replies: { 201: Type.Object({ deleted: Count, message: Success, ...NOTES }) },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { count, notes } = await deleteUsers(services, context, body, previewOf(body));
  return { status: 201, body: { deleted: count, message: "success", ...notes } };
});

const ExternalIdError = Type.Array(ItemNote, {
  description: "Why an item had no effect.",
});

const renameIds = endpoint({
  name: "renameExternalIds",
  method: "POST",
  path: "/users/external_ids/rename",
  summary: "Gives users another external_id; the old one still identifies the user.",
  examples: { "A rename": { external_id_renames: [firstExample(ExternalIdRename)] } },
  access: withPermission("users.external_ids.rename"),
  body: Type.Object({
    external_id_renames: Elements(ExternalIdRename, "At most 50 renames."),
  }),
  replies: {
    201: Type.Object({
      external_ids: Type.Array(Type.String(), { description: "The new ids that took effect." }),
      rename_errors: ExternalIdError,
      message: Success,
    }),
  },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { ids, errors } = await renameExternalIds(services, context, body.external_id_renames);
  return { status: 201, body: { external_ids: ids, rename_errors: errors, message: "success" } };
});

const removeIds = endpoint({
  name: "removeExternalIds",
  method: "POST",
  path: "/users/external_ids/remove",
  summary: "Removes the redirects of external ids that were renamed or merged.",
  examples: { "A former id": { external_ids: ["ada-old"] } },
  access: withPermission("users.external_ids.remove"),
  body: Type.Object({ external_ids: Elements(ExternalId, "At most 50 deprecated external ids.") }),
  replies: {
    201: Type.Object({
      removed_ids: Type.Array(Type.String(), { description: "The ids that were removed." }),
      removal_errors: ExternalIdError,
      message: Success,
    }),
  },
}).handledBy(async (services: IdentityServices, context, { body }) => {
  const { ids, errors } = await removeExternalIds(services, context, body.external_ids);
  return { status: 201, body: { removed_ids: ids, removal_errors: errors, message: "success" } };
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
