import type { Json } from "../../../base/values/plain-json.ts";
import { type PushToken, unitePushTokens } from "../../profiles/attribute-rules/push-tokens.ts";
import { type Alias, aliasValue } from "../../profiles/identifiers.ts";
import { type MergeRule, standardAttribute } from "../../profiles/standard-attributes.ts";
import type { Attributes, ProfileFields } from "../../profiles/store.ts";
import { parsePending, prevails } from "../../subscriptions/waiting-state.ts";
import type { Combined, Effect, EffectKind, Extent } from "./effects.ts";

/** The rule if both profiles have a value. */
type Rule = (kept: Json, merged: Json) => { readonly value: Json; readonly effect: EffectKind };

const keepOwn: Rule = (kept) => ({ value: kept, effect: "kept" });

const takeEarlier: Rule = (kept, merged) => ({
  value: timeOf(merged) < timeOf(kept) ? merged : kept,
  effect: "earlier",
});

const takeLater: Rule = (kept, merged) => ({
  value: timeOf(merged) > timeOf(kept) ? merged : kept,
  effect: "later",
});

const timeOf = (value: Json): number => Date.parse(String(value));

const unitePushTokensOf: Rule = (kept, merged) => ({
  value: unitePushTokens(kept as readonly PushToken[], merged as readonly PushToken[], "first"),
  effect: "combined",
});

/** Chooses between two states that wait for an address (docs/decisions/email-state.md). */
const takeNewerConsent: Rule = (kept, merged) => {
  const [own, other] = [parsePending(kept), parsePending(merged)];
  const isOther = own && other && prevails(other, own);
  return { value: isOther ? merged : kept, effect: "later" };
};

/** spec: Merge behaviour. */
const RULES: Readonly<Record<MergeRule, Rule>> = {
  kept_user: keepOwn,
  earlier: takeEarlier,
  later: takeLater,
  push_tokens: unitePushTokensOf,
  newer_consent: takeNewerConsent,
};

/** spec: Merge behaviour, Last_X_at fields. */
export const LAST_TIME = /^last_[a-z0-9_]+_at$/;

const standardRule = (name: string): Rule =>
  LAST_TIME.test(name) ? takeLater : RULES[standardAttribute(name)?.merge ?? "kept_user"];

/** Whether a value that both profiles have is computed from both. */
export const isJoined = (name: string): boolean =>
  LAST_TIME.test(name) || (standardAttribute(name)?.merge ?? "kept_user") !== "kept_user";

/** A standard attribute of the kept profile after a merge; null if it has none. */
export const combineStandard = (name: string, kept: Json, merged: Json): Json =>
  kept === null || merged === null ? (kept ?? merged) : standardRule(name)(kept, merged).value;

/**
 * The row of the kept profile after a merge.
 *
 * spec: Merge behaviour. Missing fields and custom attributes are taken, aliases united, and session dates
 * become the earlier and the later one. `tokens_and_messages` takes only the aliases and the push tokens.
 *
 * @param redirects whether an external_id that is not taken still identifies the kept profile.
 */
export function combineFields(
  kept: ProfileFields,
  merged: ProfileFields,
  extent: Extent,
  redirects: boolean,
): Combined<ProfileFields> {
  const isPartial = extent === "tokens_and_messages";
  const leave = <Value>(own: Value): Value => own;
  const standard = combineAttributes(kept.standardAttributes, merged.standardAttributes, {
    ruleOf: standardRule,
    isLeft: (name) => isPartial && name !== "push_tokens",
  });
  const custom = combineAttributes(kept.customAttributes, merged.customAttributes, {
    field: "custom_attributes",
    ruleOf: () => keepOwn,
    isLeft: () => isPartial,
  });
  const take = isPartial ? leave : <Value>(own: Value, other: Value): Value => own ?? other;
  const value: ProfileFields = {
    externalId: take(kept.externalId, merged.externalId),
    aliases: uniteAliases(kept.aliases, merged.aliases),
    email: take(kept.email, merged.email),
    phone: take(kept.phone, merged.phone),
    standardAttributes: standard.value,
    customAttributes: custom.value,
  };
  const effects = [
    ...externalIdEffect(kept, merged, value, redirects),
    ...aliasEffect(kept, merged, value),
    ...addressEffect("email", kept, merged, value),
    ...addressEffect("phone", kept, merged, value),
    ...standard.effects,
    ...custom.effects,
  ];
  return { value, effects };
}

/** @param how.field the field that effects name beside each attribute; without one the attribute is the field. */
function combineAttributes(
  kept: Attributes,
  merged: Attributes,
  how: {
    readonly field?: string;
    ruleOf(name: string): Rule;
    isLeft(name: string): boolean;
  },
): Combined<Attributes> {
  const { field } = how;
  const added: [name: string, value: Json][] = [];
  const effects: Effect[] = [];
  // Sorted by name, because the engine stores the members of an object in its own order.
  for (const name of Object.keys(merged).sort()) {
    const value = merged[name] as Json;
    const own = Object.hasOwn(kept, name) ? (kept[name] as Json) : null;
    const { value: result, effect }: ReturnType<Rule> = how.isLeft(name)
      ? { value: own, effect: "left" }
      : own === null
        ? { value, effect: "taken" }
        : how.ruleOf(name)(own, value);
    if (result !== null && result !== own) added.push([name, result]);
    effects.push(
      field === undefined
        ? { field: name, effect, kept: own, merged: value, result }
        : { field, name, effect, kept: own, merged: value, result },
    );
  }
  const value = added.length === 0 ? kept : { ...kept, ...Object.fromEntries(added) };
  return { value, effects };
}

/** A profile may hold several aliases with one label. docs/decisions/identity.md */
function uniteAliases(kept: readonly Alias[], merged: readonly Alias[]): readonly Alias[] {
  return [...new Map([...kept, ...merged].map((alias) => [aliasValue(alias), alias])).values()];
}

function externalIdEffect(
  kept: ProfileFields,
  merged: ProfileFields,
  result: ProfileFields,
  redirects: boolean,
): Effect[] {
  if (merged.externalId === null) return [];
  const isTaken = kept.externalId === null && result.externalId !== null;
  return [
    {
      field: "external_id",
      effect: isTaken ? "taken" : redirects ? "redirected" : "freed",
      kept: kept.externalId,
      merged: merged.externalId,
      result: result.externalId,
    },
  ];
}

function aliasEffect(kept: ProfileFields, merged: ProfileFields, result: ProfileFields): Effect[] {
  if (merged.aliases.length === 0) return [];
  const json = (aliases: readonly Alias[]) => aliases.map((alias) => ({ ...alias }));
  return [
    {
      field: "user_aliases",
      effect: "combined",
      kept: json(kept.aliases),
      merged: json(merged.aliases),
      result: json(result.aliases),
    },
  ];
}

function addressEffect(
  field: "email" | "phone",
  kept: ProfileFields,
  merged: ProfileFields,
  result: ProfileFields,
): Effect[] {
  if (merged[field] === null) return [];
  const isTaken = kept[field] === null && result[field] !== null;
  const effect = isTaken ? "taken" : kept[field] === null ? "left" : "kept";
  return [{ field, effect, kept: kept[field], merged: merged[field], result: result[field] }];
}
