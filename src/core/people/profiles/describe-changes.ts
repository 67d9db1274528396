import { isDeepStrictEqual } from "node:util";
import type { Json } from "../../base/values/plain-json.ts";
import type { ChangeDraft, ChangedUser } from "../changes/change.ts";
import { emailValue } from "./identifiers.ts";
import type { Attributes, NewProfile, ProfileRow } from "./store.ts";
import type { ProfileUpdate } from "./update-profiles-store.ts";
import type { IdentityChange, NamedUser, Written } from "./written.ts";

/** The writes of a transaction about people, as entries of the change feed: docs/changes.md. */
export function describeChanges(written: Written): ChangeDraft[] {
  const { people, events = [], purchases = [], subscriptions, identities, names = [] } = written;
  const drafts: ChangeDraft[] = [];
  const users = new Map<string, ChangedUser>();
  const holders = new Map<string, ChangedUser>();
  for (const named of names) enter(users, holders, named, named.email);
  for (const created of people?.created ?? []) {
    const user = enter(users, holders, created, created.email);
    drafts.push(draftOf("user.created", user, valuesOfNew(created)));
  }
  for (const update of people?.updated ?? []) {
    const { before, email = before?.email ?? update.assumedEmail } = update;
    const user = enter(users, holders, before ?? update, email);
    const values = valuesOfUpdate(update);
    if (hasAny(values)) drafts.push(draftOf("user.updated", user, values));
  }
  if (identities) describeIdentities(drafts, identities, users, holders);
  for (const { profileId, work } of events) {
    drafts.push({
      type: "event.logged",
      user: users.get(profileId) ?? { platform_id: profileId },
      name: work.name,
      time: work.time,
      properties: work.properties ?? {},
      app_id: work.appId,
    });
  }
  for (const { profileId, work } of purchases) {
    drafts.push({
      type: "purchase.logged",
      user: users.get(profileId) ?? { platform_id: profileId },
      product_id: work.productId,
      currency: work.currency,
      price: work.price,
      quantity: work.quantity,
      time: work.time,
      properties: work.properties ?? {},
      app_id: work.appId,
    });
  }
  for (const { profileId, groupId, before, state, context } of subscriptions?.groupStates ?? []) {
    drafts.push({
      type: "subscription.changed",
      user: users.get(profileId) ?? { platform_id: profileId },
      subscription_group_id: groupId,
      before,
      after: state,
      source: context.call,
    });
  }
  for (const { email, spelling, before, state, context } of subscriptions?.emailStates ?? []) {
    const user = holders.get(email);
    drafts.push({
      type: "email_state.changed",
      user,
      email: spelling ?? email,
      before,
      after: state,
      source: context.call,
    });
  }
  return drafts;
}

/** Remembers how a user is named, and who has an address. */
function enter(
  users: Map<string, ChangedUser>,
  holders: Map<string, ChangedUser>,
  named: NamedUser,
  email: string | null | undefined,
): ChangedUser {
  const user = userOf(named);
  users.set(named.id, user);
  if (email) holders.set(emailValue(email), user);
  return user;
}

const userOf = ({ id, externalId, aliases = [] }: NamedUser): ChangedUser => ({
  platform_id: id,
  ...(externalId && { external_id: externalId }),
  ...(aliases.length > 0 && { user_aliases: aliases }),
});

type Values = Record<string, Json>;

const draftOf = (type: "user.created" | "user.updated", user: ChangedUser, values: Values) => ({
  type,
  user,
  changed: Object.keys(values),
  values,
});

function hasAny(values: Values): boolean {
  for (const _ in values) return true;
  return false;
}

/** An attribute as readers see it: a state that waits for an address, without the time that is kept with it. */
const shown = (name: string, value: Json): Json =>
  name === "email_subscribe" && value !== null ? (value as { state: Json }).state : value;

function valuesOfNew(profile: NewProfile): Values {
  const { createdAtMicros, updatedAtMicros } = profile;
  const values: Values = { created_at: timeOf(createdAtMicros ?? updatedAtMicros) };
  if (profile.email !== null) values.email = profile.email;
  if (profile.phone !== null) values.phone = profile.phone;
  addAttributes(values, profile.standardAttributes, profile.customAttributes);
  return values;
}

const timeOf = (micros: number): string => new Date(Math.floor(micros / 1_000)).toISOString();

function addAttributes(values: Values, standard: Attributes, custom: Attributes): void {
  for (const name in standard) values[name] = shown(name, standard[name] as Json);
  for (const name in custom) values[`custom_attributes.${name}`] = custom[name] as Json;
}

/** The differences from the row that was read; for a user who was not read, the written values. */
function valuesOfUpdate(update: ProfileUpdate): Values {
  const { before, standardPatch, customPatch, email, phone } = update;
  const values: Values = {};
  if (email !== undefined) values.email = email;
  if (phone !== undefined) values.phone = phone;
  if (!before) {
    addAttributes(values, standardPatch ?? {}, customPatch ?? {});
    return values;
  }
  addDifference(values, "", before.standardAttributes, standardPatch);
  addDifference(values, "custom_attributes.", before.customAttributes, customPatch);
  return values;
}

function addDifference(
  values: Values,
  prefix: string,
  before: Attributes,
  after: Attributes | null,
): void {
  for (const name in after) {
    const value = after[name] as Json;
    // A name can be that of a member of every object, such as `constructor`.
    const had = Object.hasOwn(before, name) ? (before[name] ?? null) : null;
    if (isDeepStrictEqual(had, value)) continue;
    values[prefix + name] = prefix ? value : shown(name, value);
  }
}

/**
 * An undone merge comes first, then created users, then merges, identifications and deletions in order, then all other
 * changes.
 */
function describeIdentities(
  drafts: ChangeDraft[],
  { profiles, changes }: NonNullable<Written["identities"]>,
  users: Map<string, ChangedUser>,
  holders: Map<string, ChangedUser>,
): void {
  const before = new Map(profiles.touched.map((row) => [row.id, row]));
  const gone = new Set(profiles.removedIds);
  for (const row of [...profiles.created, ...profiles.replaced]) {
    enter(users, holders, row, row.email);
  }
  for (const change of changes) {
    if (change.kind === "unmerge") drafts.push(describePair("user.unmerged", change, users));
  }
  for (const row of profiles.created) {
    drafts.push(draftOf("user.created", users.get(row.id) as ChangedUser, valuesOfNew(row)));
  }
  for (const change of changes) {
    if (change.kind !== "unmerge") drafts.push(describeIdentity(change, before, users));
  }
  const identified = new Map(
    changes.flatMap((change) =>
      change.kind === "identify" ? [[change.user.platformId, change.user.externalId]] : [],
    ),
  );
  for (const row of profiles.replaced) {
    if (gone.has(row.id)) continue;
    const values = valuesOfReplaced(before.get(row.id) as ProfileRow, row);
    if (values.external_id === identified.get(row.id)) delete values.external_id;
    if (hasAny(values))
      drafts.push(draftOf("user.updated", users.get(row.id) as ChangedUser, values));
  }
}

/** A change that names a kept user and a merged one. */
const describePair = (
  type: "user.merged" | "user.unmerged",
  { kept, merged }: Extract<IdentityChange, { readonly kept: unknown }>,
  users: ReadonlyMap<string, ChangedUser>,
) => ({
  type,
  user: users.get(kept.platformId) ?? userOf({ id: kept.platformId, ...kept }),
  merged: {
    platform_id: merged.platformId,
    ...(merged.externalId && { external_id: merged.externalId }),
  },
});

function describeIdentity(
  change: Exclude<IdentityChange, { readonly kind: "unmerge" }>,
  before: ReadonlyMap<string, ProfileRow>,
  users: ReadonlyMap<string, ChangedUser>,
): ChangeDraft {
  if (change.kind === "merge") {
    return {
      ...describePair("user.merged", change, users),
      keeps_activity: change.extent !== "tokens_and_messages",
    };
  }
  const { platformId, externalId } = change.user;
  // The entry of a deleted user names nobody.
  if (change.kind === "delete") return { type: "user.deleted", user: { platform_id: platformId } };
  const row = before.get(platformId);
  return {
    type: "user.identified",
    user: users.get(platformId) ?? userOf({ id: platformId, externalId }),
    previous: { external_id: row?.externalId ?? null, user_aliases: row?.aliases ?? [] },
  };
}

function valuesOfReplaced(before: ProfileRow, after: NewProfile): Values {
  const values: Values = {};
  if (before.externalId !== after.externalId) values.external_id = after.externalId;
  if (!isDeepStrictEqual(before.aliases, after.aliases)) {
    values.user_aliases = after.aliases as unknown as Json;
  }
  if (before.email !== after.email) values.email = after.email;
  if (before.phone !== after.phone) values.phone = after.phone;
  addWhole(values, "", before.standardAttributes, after.standardAttributes);
  addWhole(values, "custom_attributes.", before.customAttributes, after.customAttributes);
  return values;
}

function addWhole(values: Values, prefix: string, before: Attributes, after: Attributes): void {
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  addDifference(values, prefix, before, after);
  for (const name of removed) values[prefix + name] = null;
}
