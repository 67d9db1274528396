import { accepted, type Checked, type Fault, refused } from "../../base/problem.ts";
import { addressForm } from "../../base/values/address-form.ts";
import { isUuid } from "../../base/values/uuid.ts";
import {
  checkEmail,
  checkPhone,
  checkStoredEmail,
  isE164,
  presentPhone,
  unseenIn,
} from "./addresses.ts";

/** The identifiers by which a profile can be found. `platform_id` is the profile's own id and needs no index. */
export type IdentifierKind = "external_id" | "alias" | "email" | "phone";

/** An identifier as it is looked up: addresses in their form, phone numbers in E.164. */
export interface Identifier {
  readonly kind: IdentifierKind;
  readonly value: string;
}

export interface Alias {
  readonly alias_name: string;
  readonly alias_label: string;
}

/** A request's name for a person, with the values that a new profile would take from it. */
export type PersonIdentifier =
  | { readonly kind: "external_id"; readonly value: string }
  | { readonly kind: "alias"; readonly value: string; readonly alias: Alias }
  | {
      readonly kind: "email";
      readonly value: string;
      /** As it was written. */
      readonly address: string;
      /** Why it is refused unless it is stored: earlier versions accepted characters that show nothing. */
      readonly refusal?: Fault;
    }
  | { readonly kind: "phone"; readonly value: string }
  | { readonly kind: "platform_id"; readonly value: string };

export type AliasIdentifier = Extract<PersonIdentifier, { kind: "alias" }>;

export const identifierKey = ({ kind, value }: { kind: string; value: string }): string =>
  `${kind} ${value}`;

/**
 * Name and label as one unique text: the label's length, at the end, shows where it begins. The name comes
 * first, so that aliases can be searched by the beginning of their names.
 */
export const aliasValue = ({ alias_name, alias_label }: Alias): string =>
  `${alias_name}${ALIAS_SEPARATOR}${alias_label}:${alias_label.length}`;

/** ASCII's unit separator. */
export const ALIAS_SEPARATOR = "\u001f";

/** The alias that `aliasValue` encodes as this text. */
export function readAliasValue(value: string): Alias {
  const colon = value.lastIndexOf(":");
  const labelAt = colon - Number(value.slice(colon + 1));
  return { alias_name: value.slice(0, labelAt - 1), alias_label: value.slice(labelAt, colon) };
}

/** Addresses match in their form. docs/conformance.md#identifiers-in-track */
export const emailValue = addressForm;

/**
 * Every identifier of a profile, as stored in the index of identifiers.
 *
 * @param redirects the merged profiles whose external_ids identify it.
 */
export function identifiersOf(
  { externalId, aliases, email, phone }: ProfileNames,
  redirects: readonly { readonly externalId: string | null }[],
): Identifier[] {
  const found: Identifier[] = [];
  if (externalId !== null) found.push({ kind: "external_id", value: externalId });
  for (const { externalId: value } of redirects) {
    if (value !== null) found.push({ kind: "external_id", value });
  }
  for (const alias of aliases) found.push({ kind: "alias", value: aliasValue(alias) });
  if (email !== null) found.push({ kind: "email", value: emailValue(email) });
  if (phone !== null) found.push({ kind: "phone", value: phone });
  return found;
}

/** decision: docs/decisions/values.md; the platform's own limit for an external_id. */
const LONGEST_IDENTIFIER_BYTES = 987;

/** Existing clients send some ids and names as numbers. docs/decisions/values.md */
export const textOf = (value: unknown): unknown =>
  typeof value === "number" ? String(value) : value;

/**
 * Accepts a string or a number below 988 bytes. Faults: INVALID_EXTERNAL_ID,
 * EXTERNAL_USER_ID_TOO_LARGE.
 */
export function checkExternalId(value: unknown): Checked<PersonIdentifier> {
  const text = textOf(value);
  if (typeof text !== "string" || text === "") {
    return refused("INVALID_EXTERNAL_ID", "'external_id' must be a string that is not empty");
  }
  if (Buffer.byteLength(text) > LONGEST_IDENTIFIER_BYTES) {
    return refused("EXTERNAL_USER_ID_TOO_LARGE", "'external_id' must be fewer than 988 bytes");
  }
  return accepted({ kind: "external_id", value: text });
}

/**
 * spec: User alias object. Both parts are required.
 *
 * @param path of the object, for the sentence; empty for the object itself.
 */
export function checkAlias(value: unknown, path = "user_alias"): Checked<AliasIdentifier> {
  const { alias_name, alias_label } = (value ?? {}) as Partial<Record<keyof Alias, unknown>>;
  const parts = { alias_name: textOf(alias_name), alias_label };
  const place = (name: string) => `'${path ? `${path}.` : ""}${name}'`;
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part !== "string" || part === "") {
      return refused("INVALID_USER_ALIAS", `${place(name)} must be a string that is not empty`);
    }
    if (Buffer.byteLength(part) > LONGEST_IDENTIFIER_BYTES) {
      return refused("INVALID_USER_ALIAS", `${place(name)} must be fewer than 988 bytes`);
    }
  }
  const alias = parts as Alias;
  return accepted({ kind: "alias", value: aliasValue(alias), alias });
}

/** Accepts an id in upper or lower case. Fault: INVALID_PLATFORM_ID. */
export function checkPlatformId(value: unknown): Checked<PersonIdentifier> {
  if (typeof value !== "string" || value === "") {
    return refused("INVALID_PLATFORM_ID", "'platform_id' must be a string that is not empty");
  }
  return accepted({ kind: "platform_id", value: value.toLowerCase() });
}

/**
 * An address that names users. What earlier versions stored still does; see `refusal`. Faults: as for an email
 * address.
 */
export function checkEmailIdentifier(value: unknown): Checked<PersonIdentifier> {
  const checked = checkStoredEmail(value);
  if ("fault" in checked) return checkEmail(value) as typeof checked;
  const address = checked.value;
  const email = { kind: "email" as const, value: emailValue(address), address };
  const refusal = unseenIn(address);
  return accepted(refusal ? { ...email, refusal } : email);
}

/** Faults: as for a phone number. */
export function checkPhoneIdentifier(value: unknown): Checked<PersonIdentifier> {
  const checked = checkPhone(value);
  return "fault" in checked ? checked : accepted({ kind: "phone", value: checked.value });
}

/**
 * A phone number that only looks users up. A number of the right form that does not exist names no user, like
 * any unused one.
 */
export function checkPhoneLookup(value: unknown): Checked<PersonIdentifier> {
  const checked = checkPhoneIdentifier(value);
  return "fault" in checked && isE164(value)
    ? accepted({ kind: "phone", value: presentPhone(value) })
    : checked;
}

/** Names of a user as rows of an export carry them. */
export interface ProfileNames {
  readonly externalId: string | null;
  readonly aliases: readonly Alias[];
  readonly email: string | null;
  readonly phone: string | null;
}

/** The single identifier by which a track request names the user. */
export function identifierOf({ externalId, aliases, email, phone }: ProfileNames): object {
  if (externalId !== null) return { external_id: externalId };
  const [alias] = aliases;
  if (alias) return { user_alias: alias };
  return email === null ? { phone } : { email };
}

export const isProfileId = (value: string): boolean => isUuid(value);

/** spec: Errors, /users/track, the block list. */
export const BLOCKED: Fault = {
  code: "BLACKLISTED_EXTERNAL_USER_ID",
  message: "this external_id is blocked: provided external_id is blacklisted and disallowed",
};
