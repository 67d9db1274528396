import type { Queryable } from "../../core/database/database.ts";
import { selectIdentifiers } from "../../core/people/profiles/holders-store.ts";
import {
  aliasValue,
  emailValue,
  identifierKey,
  readAliasValue,
} from "../../core/people/profiles/identifiers.ts";
import { type MergedProfile, selectMergedInto } from "../../core/people/profiles/merged-store.ts";
import { type FoundIdentifier, selectProfiles } from "../../core/people/profiles/store.ts";
import { refused, type UndoableMerge } from "./find-merge.ts";

/* The identifiers of a user who returns, and the ids that led to the kept user meanwhile. */

export interface TakenBack {
  readonly added: readonly FoundIdentifier[];
  /** Of the kept user. */
  readonly removed: readonly FoundIdentifier[];
  readonly redirected: readonly MergedProfile[];
  readonly forgottenIds: readonly string[];
}

/**
 * @throws Problem CONFLICT UNDO_IDENTIFIER_TAKEN if an external_id or alias of the returning user is another user's now, or one
 *   that the kept user has otherwise than from them.
 */
export async function takeBack(
  database: Queryable,
  workspaceId: number,
  { record, kept }: UndoableMerge,
): Promise<TakenBack> {
  const { merged } = record;
  const { fields } = merged;
  const redirects = await selectMergedInto(database, workspaceId, [kept.id]);
  const own = new Set([merged.id, ...merged.redirects.map(({ profileId }) => profileId)]);
  const isTaken = record.kept.taken.includes("externalId");
  /** An external_id that the kept user has because of the merge. */
  const cameWithMerge = (value: string): boolean => {
    const isMain = value === fields.externalId;
    if (kept.externalId === value) return isMain && isTaken;
    const redirect = redirects.find(({ externalId }) => externalId === value);
    // Renamed since: the kept user has another one, and leaves this one to the returning user.
    return !!redirect && (own.has(redirect.profileId) || (isMain && isTaken));
  };
  const externalIds = [fields.externalId, ...merged.redirects.map((each) => each.externalId)];
  const unique: FoundIdentifier[] = [
    ...externalIds.flatMap((value) =>
      value === null ? [] : [{ kind: "external_id" as const, value, profileId: merged.id }],
    ),
    ...fields.aliases.map((alias) => ({
      kind: "alias" as const,
      value: aliasValue(alias),
      profileId: merged.id,
    })),
  ];
  const held = await selectIdentifiers(
    database,
    workspaceId,
    unique.map(({ value }) => value),
  );
  const holders = new Map(held.map((each) => [identifierKey(each), each.profileId]));
  const removed: FoundIdentifier[] = [];
  for (const each of unique) {
    const holder = holders.get(identifierKey(each));
    if (holder === undefined) continue;
    const isOurs = holder === kept.id && (each.kind === "alias" || cameWithMerge(each.value));
    if (!isOurs) throw await taken(database, workspaceId, each, holder);
    removed.push({ ...each, profileId: kept.id });
  }
  const back = new Set(removed.map(({ value, kind }) => identifierKey({ value, kind })));
  const addresses: FoundIdentifier[] = [
    ...(fields.email === null
      ? []
      : [{ kind: "email" as const, value: emailValue(fields.email), profileId: merged.id }]),
    ...(fields.phone === null
      ? []
      : [{ kind: "phone" as const, value: fields.phone, profileId: merged.id }]),
  ];
  const renamed = redirects.filter(
    ({ externalId, isRename, profileId }) =>
      isRename &&
      !own.has(profileId) &&
      externalId !== null &&
      back.has(identifierKey({ kind: "external_id", value: externalId })),
  );
  return {
    added: [...unique, ...addresses],
    removed,
    redirected: merged.redirects.map((each) => ({ ...each, keptProfileId: merged.id })),
    forgottenIds: [merged.id, ...renamed.map(({ profileId }) => profileId)],
  };
}

async function taken(
  database: Queryable,
  workspaceId: number,
  { kind, value }: FoundIdentifier,
  holderId: string,
) {
  const [holder] = await selectProfiles(database, workspaceId, [holderId], "names");
  const alias = kind === "alias" ? readAliasValue(value) : undefined;
  const identifier = alias ? `${alias.alias_label}:${alias.alias_name}` : value;
  const name = holder?.externalId ? `external_id '${holder.externalId}', ` : "";
  return refused(
    "UNDO_IDENTIFIER_TAKEN",
    `The ${kind === "alias" ? "user_alias" : kind} '${identifier}' is another user's now: ` +
      `${name}platform_id '${holderId}'. Rename or delete it there first.`,
    {
      identifier: alias ? { user_alias: alias } : { external_id: value },
      user: { platform_id: holderId, external_id: holder?.externalId ?? null },
    },
  );
}
