import { isDeepStrictEqual } from "node:util";
import type { Json } from "../../core/base/values/plain-json.ts";
import type { AppUsage, Interaction } from "../../core/people/activity/activity.ts";
import {
  combineInteraction,
  combineSessions,
  interactionKey,
} from "../../core/people/identity/combine/app-activity.ts";
import { combineStandard, isJoined } from "../../core/people/identity/combine/fields.ts";
import type {
  InJson,
  KeptBefore,
  MergeRecord,
  RecordedUser,
} from "../../core/people/identity/merge-record.ts";
import { emailValue } from "../../core/people/profiles/identifiers.ts";
import { startSummaries } from "./summaries.ts";

/*
 * Merges into one user can be undone in any order. So the records of later merges into the same user are read in their order,
 * and each forgets what the merge that is undone had brought: then a later undo of theirs leaves nothing of it.
 *
 * A value that is computed from both users (a date, the tokens, an app) is followed through these merges twice: as it
 * became, and as it would have become without the merge. If the user has the first now, nobody else has written it.
 */

export type Chain = ReturnType<typeof startChain>;

/** A value as it became, and as it would be without the merge. */
interface Followed<Value> {
  has: Value;
  without: Value;
  /** Whether something else has written it since. */
  isLost: boolean;
}

const follow = <Value>(has: Value, without: Value): Followed<Value> => ({
  has,
  without,
  isLost: false,
});

/** What comes from a later merge by now, or from the call of its own: `custom plan`, `group …`. */
type Place = string;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its parts are steps of one walk over the records.
export function startChain(record: MergeRecord) {
  const { merged, kept, extent } = record;
  const isPartial = extent === "tokens_and_messages";
  const retaken = new Set<Place>();
  const laterEntries = new Set<string>();
  const address = addressOf(record);
  const emailHistory = new Map(merged.emailHistory.map((entry) => [entry.id, entry]));
  const joined = new Map(merged.joined.map((each) => [each.spelling, each]));
  const standard = new Map(
    Object.entries(kept.standard).map(([name, [before, after]]) => [name, follow(after, before)]),
  );
  const apps = new Map(
    (isPartial ? [] : merged.apps).map((app) => {
      const before = kept.apps.find(({ appId }) => appId === app.appId);
      return [app.appId, follow(before ? combineApps(before, app) : app, before)];
    }),
  );
  const interactions = new Map(
    (isPartial ? [] : merged.interactions).map((each) => {
      const before = kept.interactions.find((own) => interactionKey(own) === interactionKey(each));
      return [
        interactionKey(each),
        follow(before ? combineInteraction(before, each) : each, before),
      ];
    }),
  );
  const updated: Followed<number> = follow(kept.updated[1], kept.updated[0]);
  const email = kept.emailState && follow(kept.emailState.after, kept.emailState.before);
  const summaries = startSummaries(record);

  /** The record of a later merge without what this one had brought. */
  function pass(later: MergeRecord): MergeRecord {
    const theirs = broughtBy(later);
    for (const name of later.kept.taken) if (kept.taken.includes(name)) retaken.add(name);
    for (const name of later.kept.custom) {
      if (kept.custom.includes(name)) retaken.add(`custom ${name}`);
    }
    for (const id of later.kept.devices) {
      if (kept.devices.includes(id)) retaken.add(`device ${id}`);
    }
    for (const id of later.kept.groups) if (kept.groups.includes(id)) retaken.add(`group ${id}`);
    for (const { id } of later.kept.groupEntries) laterEntries.add(id);
    if (address !== null && addressOf(later) === address) {
      for (const entry of later.merged.emailHistory) emailHistory.set(entry.id, entry);
      for (const each of later.merged.joined) joined.set(each.spelling, each);
    }
    const before: KeptBefore = {
      ...later.kept,
      standard: passStandard(later),
      updated: passTime(later.kept.updated),
      apps: passList(later.kept.apps, theirs.apps, apps, ({ appId }) => appId, combineApps),
      interactions: passList(
        later.kept.interactions,
        theirs.interactions,
        interactions,
        interactionKey,
        combineInteraction,
      ),
      emailState: passEmail(later.kept.emailState),
      ...summaries.pass(later),
    };
    return { ...later, kept: before };
  }

  function passStandard(later: MergeRecord): KeptBefore["standard"] {
    const entries = new Map(Object.entries(later.kept.standard));
    for (const [name, followed] of standard) {
      const entry = entries.get(name);
      if (followed.isLost) continue;
      if (!isJoined(name)) {
        // Taken again, after it was removed.
        if (entry) followed.isLost = true;
        continue;
      }
      if (entry && !isDeepStrictEqual(entry[0], followed.has)) {
        followed.isLost = true;
        continue;
      }
      const theirs = later.merged.fields.standardAttributes[name] ?? null;
      const isLeft = later.extent === "tokens_and_messages" && name !== "push_tokens";
      const isLinked = name === "email_subscribe" && entry?.[1] === null;
      const without = isLinked
        ? null // The state of the address since then.
        : theirs === null || isLeft
          ? followed.without
          : combineStandard(name, followed.without, theirs);
      if (isDeepStrictEqual(followed.without, without)) entries.delete(name);
      else entries.set(name, [followed.without, without]);
      if (entry) followed.has = entry[1];
      followed.without = without;
    }
    return Object.fromEntries(entries);
  }

  function passTime([before, after]: KeptBefore["updated"]): KeptBefore["updated"] {
    const isNext = !updated.isLost && before === updated.has;
    // From then on the time is that of the later merge.
    updated.isLost = true;
    return isNext ? [updated.without, after] : [before, after];
  }

  function passEmail(later: KeptBefore["emailState"]): KeptBefore["emailState"] {
    if (!email || email.isLost || later?.email !== kept.emailState?.email) return later;
    email.isLost = true;
    return later && isDeepStrictEqual(later.before, email.has)
      ? { ...later, before: email.without }
      : later;
  }

  return {
    pass,
    summaries,
    /** The entries that later merges added to the history of groups. */
    laterEntries: (): string[] => [...laterEntries],
    /** What the returning user's address brings back: it may have gone with a later user who had the address too. */
    ofAddress: (): Pick<RecordedUser, "emailHistory" | "joined"> => ({
      emailHistory: [...emailHistory.values()],
      joined: [...joined.values()],
    }),
    isShared: (entryId: string): boolean => laterEntries.has(entryId),
    isRetaken: (place: Place): boolean => retaken.has(place),
    standard: (name: string, now: Json): Json => {
      const followed = standard.get(name);
      if (!followed) return now;
      if (!followed.isLost && isDeepStrictEqual(now, followed.has)) return followed.without;
      return name === "push_tokens" ? withoutTokens(now, kept.standard[name]) : now;
    },
    updatedAt: (now: number): number =>
      !updated.isLost && now === updated.has ? updated.without : now,
    app: (now: AppUsage): AppUsage | undefined => {
      const own = apps.get(now.appId);
      const theirs = merged.apps.find(({ appId }) => appId === now.appId);
      if (!own || !theirs) return now;
      if (isDeepStrictEqual(inJson(now), own.has)) return own.without && appOf(own.without);
      return subtractApp(now, theirs, own);
    },
    interaction: (now: Interaction): Interaction | undefined => {
      const own = interactions.get(interactionKey(now));
      return own && isDeepStrictEqual(bareInteraction(now), own.has) ? own.without : now;
    },
    isEmailState: (now: { readonly state: string; readonly setAt: string } | undefined): boolean =>
      email !== null &&
      !email.isLost &&
      now?.state === email.has?.state &&
      now?.setAt === email.has?.setAt,
  };
}

const addressOf = ({ merged: { fields } }: MergeRecord): string | null =>
  fields.email === null ? null : emailValue(fields.email);

/** What a merge added to the kept user's; a user whose data was left behind brought nothing. */
const broughtBy = ({ extent, merged }: MergeRecord): Pick<RecordedUser, "apps" | "interactions"> =>
  extent === "tokens_and_messages" ? { apps: [], interactions: [] } : merged;

/** Rows of the kept user in a later record, without what came with the merge. */
function passList<Row>(
  own: readonly Row[],
  theirs: readonly Row[],
  followed: ReadonlyMap<string, Followed<Row | undefined>>,
  keyOf: (row: Row) => string,
  combine: (one: Row, other: Row) => Row,
): readonly Row[] {
  const rows = new Map(own.map((row) => [keyOf(row), row]));
  const merged = new Map(theirs.map((row) => [keyOf(row), row]));
  for (const [key, each] of followed) {
    const before = rows.get(key);
    const other = merged.get(key);
    if (!other) continue;
    if (before && isDeepStrictEqual(before, each.has)) {
      if (each.without === undefined) rows.delete(key);
      else rows.set(key, each.without);
    }
    each.has = before ? combine(before, other) : other;
    each.without = each.without === undefined ? other : combine(each.without, other);
  }
  return [...rows.values()];
}

type App = InJson<AppUsage>;

const appOf = (app: App): AppUsage => ({
  ...app,
  firstUsedAt: new Date(app.firstUsedAt),
  lastUsedAt: new Date(app.lastUsedAt),
});

/** Without its profile, in the order of the record's members. */
const inJson = ({ appId, version, sessions, firstUsedAt, lastUsedAt }: AppUsage): App => ({
  appId,
  version,
  sessions,
  firstUsedAt: firstUsedAt.toISOString(),
  lastUsedAt: lastUsedAt.toISOString(),
});

const bareInteraction = ({ kind, id, details }: Interaction): Interaction => ({
  kind,
  id,
  details,
});

const combineApps = (one: App, other: App): App =>
  inJson(combineSessions(appOf(one), appOf(other)));

/** An import has replaced the summary: if it has more sessions, those of the merged user are among them. */
function subtractApp(now: AppUsage, theirs: App, { has, without }: Followed<App | undefined>) {
  if (has && now.sessions < has.sessions) return now;
  const first = now.firstUsedAt.toISOString() === theirs.firstUsedAt && without?.firstUsedAt;
  const last = now.lastUsedAt.toISOString() === theirs.lastUsedAt && without?.lastUsedAt;
  return {
    ...now,
    sessions: Math.max(0, now.sessions - theirs.sessions),
    firstUsedAt: first ? new Date(first) : now.firstUsedAt,
    lastUsedAt: last ? new Date(last) : now.lastUsedAt,
  };
}

/** The tokens of a user without those that the merge added. */
function withoutTokens(now: Json, entry: readonly [Json, Json] | undefined): Json {
  if (!Array.isArray(now)) return now;
  const keyOf = (token: unknown) => {
    const { app_id, token: text } = token as { app_id: string; token: string };
    return `${app_id} ${text}`;
  };
  const [before, after] = (entry ?? []).map((list) => new Set(((list ?? []) as Json[]).map(keyOf)));
  const left = now.filter((token) => !after?.has(keyOf(token)) || before?.has(keyOf(token)));
  return left.length > 0 ? left : null;
}
