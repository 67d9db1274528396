import Type from "typebox";
import { ClosedObject } from "../../base/values/schemas.ts";
import {
  AliasMembers,
  EmailAddress,
  ExternalId,
  PhoneNumber,
  UserAlias,
} from "../profiles/profile-schemas.ts";
import { PRIORITIES } from "./selectors.ts";

/*
 * The elements of requests about identities as the documentation describes them. They are checked one by one
 * (items.ts), so that a refusal lists every faulty one.
 */

const Prioritization = Type.Array(Type.Enum([...PRIORITIES]), {
  title: "Prioritization",
  description:
    "Rules, in order, for choosing one of several users with this address. If several remain, the item is skipped.",
  examples: [["identified", "most_recently_updated"]],
});

const BY_EMAIL = { email: EmailAddress, prioritization: Prioritization };

const BY_PHONE = { phone: PhoneNumber, prioritization: Prioritization };

/** spec: Merge update object. */
const UserSelector = Type.Union(
  [
    Type.Object({ external_id: ExternalId }),
    Type.Object({ user_alias: UserAlias }),
    Type.Object(BY_EMAIL),
    Type.Object(BY_PHONE),
  ],
  {
    title: "UserSelector",
    description: "Names one user by exactly one identifier.",
    examples: [{ external_id: "ada" }],
  },
);

export const MergeUpdate = ClosedObject(
  { identifier_to_merge: UserSelector, identifier_to_keep: UserSelector },
  {
    title: "MergeUpdate",
    description: "Merges one user into another. The first is gone afterwards.",
    examples: [
      {
        identifier_to_merge: { external_id: "ada-old" },
        identifier_to_keep: { external_id: "ada" },
      },
    ],
  },
);

export const NewUserAlias = Type.Object(
  { ...AliasMembers, external_id: Type.Optional(ExternalId) },
  {
    title: "NewUserAlias",
    description:
      "With an `external_id` that user gets the alias; without one an alias-only user is created.",
    examples: [{ external_id: "ada", alias_name: "visitor-4711", alias_label: "web_visitor" }],
  },
);

export const AliasUpdate = Type.Object(
  {
    alias_label: AliasMembers.alias_label,
    old_alias_name: AliasMembers.alias_name,
    new_alias_name: AliasMembers.alias_name,
  },
  {
    title: "AliasUpdate",
    description: "Renames an alias under its label.",
    examples: [
      {
        alias_label: "web_visitor",
        old_alias_name: "visitor-4711",
        new_alias_name: "visitor-4712",
      },
    ],
  },
);

export const ExternalIdRename = Type.Object(
  { current_external_id: ExternalId, new_external_id: ExternalId },
  {
    title: "ExternalIdRename",
    description: "Gives the user of one external_id another.",
    examples: [{ current_external_id: "ada", new_external_id: "ada-lovelace" }],
  },
);

export const AliasToIdentify = Type.Object(
  { external_id: ExternalId, user_alias: UserAlias },
  {
    title: "AliasToIdentify",
    description: "Gives the user with the alias an external_id.",
    examples: [
      {
        external_id: "ada",
        user_alias: { alias_name: "visitor-4711", alias_label: "web_visitor" },
      },
    ],
  },
);

export const EmailToIdentify = Type.Object(
  { external_id: ExternalId, ...BY_EMAIL },
  {
    title: "EmailToIdentify",
    description: "Gives the user with the email address an external_id.",
    examples: [
      {
        external_id: "ada",
        email: "ada@example.com",
        prioritization: ["unidentified", "most_recently_updated"],
      },
    ],
  },
);

export const PhoneToIdentify = Type.Object(
  { external_id: ExternalId, ...BY_PHONE },
  {
    title: "PhoneToIdentify",
    description: "Gives the user with the phone number an external_id.",
    examples: [
      {
        external_id: "ada",
        phone: "+14155552671",
        prioritization: ["unidentified", "most_recently_updated"],
      },
    ],
  },
);

export const EmailSelector = Type.Object(BY_EMAIL, {
  title: "EmailSelector",
  description: "Names one user by email address.",
  examples: [{ email: "ada@example.com", prioritization: ["most_recently_updated"] }],
});

export const PhoneSelector = Type.Object(BY_PHONE, {
  title: "PhoneSelector",
  description: "Names one user by phone number.",
  examples: [{ phone: "+14155552671", prioritization: ["most_recently_updated"] }],
});
