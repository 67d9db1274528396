import type { Intake } from "../base/context/workspace-settings.ts";
import { accepted, type Checked, refused } from "../base/problem.ts";
import { checkPhone } from "../people/profiles/addresses.ts";
import { countryCode } from "../people/profiles/attribute-rules/countries.ts";
import {
  checkAlias,
  checkEmailIdentifier,
  checkExternalId,
  checkPhoneIdentifier,
  checkPlatformId,
  type PersonIdentifier,
} from "../people/profiles/identifiers.ts";

/** Members of an item that can name the person, in the order of precedence. */
const PRIMARY = ["external_id", "user_alias", "platform_id", "braze_id"] as const;
const SECONDARY = ["email", "phone"] as const;

type IdentifierName = (typeof PRIMARY)[number] | (typeof SECONDARY)[number];

const CHECKS: Readonly<Record<IdentifierName, (value: unknown) => Checked<PersonIdentifier>>> = {
  external_id: checkExternalId,
  user_alias: checkAlias,
  platform_id: checkPlatformId,
  braze_id: checkPlatformId,
  email: checkEmailIdentifier,
  phone: checkPhoneIdentifier,
};

const MISSING = "'external_id', 'platform_id', 'user_alias', 'email' or 'phone' is required";

/** A local phone number of the object's country, in E.164; everything else unchanged. */
export function withLocalPhone(item: RawItem): RawItem {
  const { phone, country } = item;
  if (typeof phone !== "string" || typeof country !== "string") return item;
  const checked = checkPhone(phone, countryCode(country));
  return "value" in checked ? { ...item, phone: checked.value } : item;
}

export type RawItem = Readonly<Record<string, unknown>>;

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/**
 * Existing clients write `braze_id` for `platform_id`. Two different values remain two identifiers,
 * and neither wins. docs/conformance.md#names-that-clients-use
 */
export function withWireNames(raw: RawItem): RawItem {
  // Local numbers are rare: without one nothing is copied.
  if (raw.braze_id === undefined) return raw;
  const { braze_id, ...item } = raw;
  if (!isGiven(braze_id) || item.platform_id === braze_id) return item;
  return isGiven(item.platform_id) ? { ...item, braze_id } : { ...item, platform_id: braze_id };
}

/** The usual case: no list is created. */
const isNamedByExternalIdAlone = (item: RawItem): boolean =>
  isGiven(item.external_id) &&
  !isGiven(item.user_alias) &&
  !isGiven(item.platform_id) &&
  !isGiven(item.braze_id) &&
  !isGiven(item.email) &&
  !isGiven(item.phone);

/**
 * The user of an event or a purchase. spec: Event object, exactly one identifier. Lenient intake
 * ignores an address next to a primary identifier.
 *
 * @returns faults MISSING_IDENTIFIER, MULTIPLE_IDENTIFIERS or the identifier's own.
 */
export function checkOneIdentifier(
  item: RawItem,
  intake: Intake = "strict",
): Checked<PersonIdentifier> {
  if (isNamedByExternalIdAlone(item)) return checkExternalId(item.external_id);
  const primary = PRIMARY.filter((name) => isGiven(item[name]));
  const secondary = SECONDARY.filter((name) => isGiven(item[name]));
  if (primary.length !== 1 || secondary.length === 0) {
    return identifierOf(item, [...primary, ...secondary]);
  }
  return intake === "lenient"
    ? identifierOf(item, primary)
    : tooMany(
        [...primary, ...secondary],
        "; the workspace setting 'intake: lenient' ignores addresses",
      );
}

/**
 * The user of an attributes object: email and phone next to another identifier are plain
 * attributes. If only these two are given, email identifies the user.
 */
export function checkAttributesIdentifier(item: RawItem): Checked<PersonIdentifier> {
  if (isNamedByExternalIdAlone(item)) return checkExternalId(item.external_id);
  const primary = PRIMARY.filter((name) => isGiven(item[name]));
  if (primary.length > 0) return identifierOf(item, primary);
  const secondary = SECONDARY.filter((name) => isGiven(item[name])).slice(0, 1);
  return identifierOf(item, secondary);
}

function identifierOf(item: RawItem, names: readonly IdentifierName[]): Checked<PersonIdentifier> {
  const [name, second] = names;
  if (!name) return refused("MISSING_IDENTIFIER", MISSING);
  if (second) return tooMany(names);
  return CHECKS[name](item[name]);
}

function tooMany(names: readonly IdentifierName[], advice = "") {
  const list = names.map((each) => `'${each}'`).join(" and ");
  return refused("MULTIPLE_IDENTIFIERS", `${list} are given; only one of them is allowed${advice}`);
}

/** A switch: `_update_existing_only` is a boolean and nothing else. Undefined if it is absent. */
export function checkFlag(item: RawItem, name: string): Checked<boolean | undefined> {
  const value = item[name];
  if (value === undefined || value === null) return accepted(undefined);
  if (typeof value === "boolean") return accepted(value);
  return refused("INVALID_FLAG", `'${name}' must be true or false`);
}

/** `_merge_objects`, which the rows of a warehouse carry as text. */
export function checkMergeObjects(item: RawItem): Checked<boolean | undefined> {
  const { _merge_objects } = item;
  const isText = _merge_objects === "true" || _merge_objects === "false";
  return isText ? accepted(_merge_objects === "true") : checkFlag(item, "_merge_objects");
}
