import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { accepted, type Checked, type Fault, refused } from "../../core/base/problem.ts";
import { findUnstorable, isJsonObject } from "../../core/base/values/plain-json.ts";
import { parseTime } from "../../core/base/values/times.ts";
import { type Transaction, within } from "../../core/database/database.ts";
import { attachAliases } from "../../core/people/identity/new-aliases.ts";
import { backdateUsers, type CreationTime } from "../../core/people/profiles/backdate-users.ts";
import { type Alias, aliasValue, checkAlias } from "../../core/people/profiles/identifiers.ts";
import { checkItem } from "../../core/track/check-request.ts";
import type { AttributesWork, Item } from "../../core/track/item.ts";
import type { WriteServices } from "../../core/track/write-batch.ts";
import { checkHistory, type ImportedHistory } from "./check-user.ts";
import { type Judged, noteOnVerdict, writeItems } from "./import-items.ts";
import { type Commit, noteOn, type RowNote } from "./import-kind.ts";
import { readProfileRow } from "./profile-row.ts";
import { writeHistory } from "./write-history.ts";

/** The members of a row about its user. */
interface CheckedProfile {
  readonly item: Item;
  readonly history: ImportedHistory | undefined;
  /** Aliases besides the identifier. */
  readonly aliases: readonly Alias[];
  readonly createdAt: Date | undefined;
  /** Attributes that lenient intake leaves out. */
  readonly dropped: readonly Fault[];
}

/**
 * Writes users with attributes, identifiers, states and history; a user who does not exist is created. Importing a
 * row again changes nothing.
 */
export async function importProfiles(
  services: WriteServices,
  context: WorkspaceContext,
  rows: readonly unknown[],
  commit: Commit,
): Promise<void> {
  const notes: RowNote[] = [];
  const profiles = new Map<number, CheckedProfile>();
  const now = services.clock.now();
  for (const [index, row] of rows.entries()) {
    const checked = checkProfile(context, row, index, now);
    if ("fault" in checked) notes.push(noteOn(index, "rejected", checked.fault));
    else {
      profiles.set(index, checked.value);
      for (const fault of checked.value.dropped) notes.push(noteOn(index, "partial", fault));
    }
  }
  const items = [...profiles.values()].map(({ item }) => item);
  await writeItems(services, context, items, async (tx, judged) => {
    const written = await finish(tx, services, context, profiles, judged);
    await commit(tx, [...notes, ...judged.flatMap(noteOnVerdict), ...written]);
  });
}

/** Writes what no track request does: history, and further aliases. */
async function finish(
  tx: Transaction,
  services: WriteServices,
  context: WorkspaceContext,
  profiles: ReadonlyMap<number, CheckedProfile>,
  judged: readonly Judged[],
): Promise<RowNote[]> {
  const parts = judged.flatMap(({ item, verdict }) => {
    const history = profiles.get(item.index)?.history;
    const isWritten = verdict.outcome === "applied" && history;
    return isWritten ? [{ profileId: verdict.profileId, user: history }] : [];
  });
  if (parts.length > 0) await writeHistory(tx, context.workspace.id, parts);
  await backdateUsers(tx, context.workspace.id, creationTimes(profiles, judged));
  const further = judged.flatMap(({ item, verdict }) => {
    const { aliases } = profiles.get(item.index) as CheckedProfile;
    if (verdict.outcome !== "applied" || aliases.length === 0) return [];
    return [{ index: item.index, user: item.identifier, aliases }];
  });
  const own = { ...services, database: within(services.database, tx) };
  const faults = await attachAliases(own, context, further);
  return further.flatMap(({ index }, place) =>
    (faults[place] ?? []).map((fault) => noteOn(index, "partial", fault)),
  );
}

const creationTimes = (
  profiles: ReadonlyMap<number, CheckedProfile>,
  judged: readonly Judged[],
): CreationTime[] =>
  judged.flatMap(({ item, verdict }) => {
    const createdAt = profiles.get(item.index)?.createdAt;
    return verdict.outcome === "applied" && createdAt
      ? [{ profileId: verdict.profileId, createdAt }]
      : [];
  });

function checkProfile(
  { workspace }: WorkspaceContext,
  row: unknown,
  index: number,
  now: Date,
): Checked<CheckedProfile> {
  if (!isJsonObject(row)) return refused("NOT_AN_OBJECT", "must be an object");
  const unstorable = findUnstorable(row, "");
  if (unstorable) return { fault: unstorable };
  const read = readProfileRow(row);
  const { attributes, history: rawHistory, aliases: rawAliases } = read;
  const createdAt = checkCreatedAt(read.createdAt);
  if ("fault" in createdAt) return createdAt;
  const aliases = checkAliases(rawAliases);
  if ("fault" in aliases) return aliases;
  const history = rawHistory ? checkHistory(rawHistory, workspace.appIds) : accepted(undefined);
  if ("fault" in history) return history;
  const { intake } = workspace.settings;
  const checked = checkItem(workspace, "attributes", attributes, now, intake);
  if ("fault" in checked) return checked;
  const { dropped = [], ...rest } = checked.value;
  const { identifier } = rest;
  const work = withTimes(rest.work as AttributesWork, history.value);
  return accepted({
    item: { ...rest, array: "attributes", index, work },
    history: history.value,
    createdAt: createdAt.value,
    aliases: aliases.value.filter((alias) => aliasValue(alias) !== identifier.value),
    dropped,
  });
}

function checkCreatedAt(raw: unknown): Checked<Date | undefined> {
  if (raw === undefined || raw === null) return accepted(undefined);
  const time = typeof raw === "string" ? parseTime(raw) : undefined;
  return time
    ? accepted(time)
    : refused("INVALID_TIME", "'created_at' is not valid: it must be ISO 8601");
}

function checkAliases(raw: readonly unknown[]): Checked<Alias[]> {
  const aliases: Alias[] = [];
  for (const [index, each] of raw.entries()) {
    const checked = checkAlias(each, `user_aliases[${index}]`);
    if ("fault" in checked) return checked;
    if (checked.value.kind === "alias") aliases.push(checked.value.alias);
  }
  return accepted(aliases);
}

/** The Last_X_at fields are single dates of a user. */
const withTimes = (work: AttributesWork, history: ImportedHistory | undefined): AttributesWork =>
  history ? { ...work, standard: [...work.standard, ...history.times] } : work;
