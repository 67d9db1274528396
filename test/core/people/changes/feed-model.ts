/* Users as a reader knows them who has nothing but the change feed. */
import { isoTime } from "../../../../src/features/export/iso-time.ts";

export interface FeedChange {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  readonly user?: { readonly platform_id: string; readonly external_id?: string };
  readonly [field: string]: any;
}

interface Tally {
  count: number;
  first: number;
  last: number;
}

interface KnownUser {
  externalId: string | null;
  readonly values: Map<string, any>;
  readonly events: Map<string, Tally>;
  readonly purchases: Map<string, Tally>;
  revenue: number;
  readonly groups: Map<string, string>;
}

const newUser = (): KnownUser => ({
  externalId: null,
  values: new Map(),
  events: new Map(),
  purchases: new Map(),
  revenue: 0,
  groups: new Map(),
});

export function createFeedModel() {
  /** By the id under which their changes were logged; merged ones stay, because they may return. */
  const users = new Map<string, KnownUser>();
  /** The users that merged ones belong to; undefined if their activity belongs to nobody. */
  const mergedInto = new Map<string, string | undefined>();
  const deleted = new Set<string>();
  const emails = new Map<string, { state: string | null }>();

  const leadsTo = (id: string): string | undefined => {
    if (!mergedInto.has(id)) return deleted.has(id) ? undefined : id;
    const next = mergedInto.get(id);
    return next === undefined ? undefined : leadsTo(next);
  };
  const userOf = (id: string): KnownUser => {
    const known = users.get(id) ?? newUser();
    users.set(id, known);
    return known;
  };
  const tally = (of: Map<string, Tally>, name: string, time: string, count: number) => {
    const at = Date.parse(time);
    const known = of.get(name) ?? { count: 0, first: at, last: at };
    known.count += count;
    known.first = Math.min(known.first, at);
    known.last = Math.max(known.last, at);
    of.set(name, known);
  };
  const add = (to: Map<string, Tally>, from: Map<string, Tally>) => {
    for (const [name, { count, first, last }] of from) {
      tally(to, name, new Date(first).toISOString(), count);
      tally(to, name, new Date(last).toISOString(), 0);
    }
  };

  function happened(id: string, change: FeedChange): void {
    const user = userOf(id);
    if (change.type === "event.logged") tally(user.events, change.name, change.time, 1);
    else {
      tally(user.purchases, change.product_id, change.time, change.quantity);
      user.revenue += change.price * change.quantity;
    }
  }

  /** What a user did, and those who were merged into them. */
  function activityOf(id: string): Pick<KnownUser, "events" | "purchases" | "revenue"> {
    const all = newUser();
    for (const [each, { events, purchases, revenue }] of users) {
      if (leadsTo(each) !== id) continue;
      add(all.events, events);
      add(all.purchases, purchases);
      all.revenue += revenue;
    }
    return all;
  }

  return {
    apply(change: FeedChange): void {
      const { type, user } = change;
      if (type === "email_state.changed") {
        emails.set(change.email, { state: change.after });
        return;
      }
      const id = user?.platform_id as string;
      if (type === "user.merged") {
        mergedInto.set(change.merged.platform_id, change.keeps_activity ? id : undefined);
        return;
      }
      if (type === "user.unmerged") {
        mergedInto.delete(change.merged.platform_id);
        return;
      }
      if (type === "user.deleted") {
        users.delete(id);
        deleted.add(id);
        return;
      }
      if (deleted.has(id)) return;
      if (type === "event.logged" || type === "purchase.logged") {
        happened(id, change);
        return;
      }
      const known = userOf(id);
      if (type === "user.created") {
        // Also of a user who returns: what comes is all that the user has.
        known.values.clear();
        known.groups.clear();
        known.externalId = null;
      }
      if (user?.external_id !== undefined) known.externalId = user.external_id;
      if (type === "subscription.changed") {
        if (change.after === null) known.groups.delete(change.subscription_group_id);
        else known.groups.set(change.subscription_group_id, change.after);
      }
      for (const [name, value] of Object.entries(change.values ?? {})) {
        if (name === "external_id") known.externalId = value as string;
        if (value === null) known.values.delete(name);
        else known.values.set(name, value);
      }
      if (type === "user.created" && (user as any).user_aliases) {
        known.values.set("user_aliases", (user as any).user_aliases);
      }
    },

    /** The users by platform_id, in the form of `shownIn`. */
    view(): Record<string, unknown> {
      return Object.fromEntries(
        [...users]
          .filter(([id]) => leadsTo(id) === id)
          .map(([id, user]) => {
            const did = activityOf(id);
            const of = (name: string) => user.values.get(name) ?? null;
            const custom = [...user.values].flatMap(([name, value]) =>
              name.startsWith("custom_attributes.") ? [[name.slice(18), value]] : [],
            );
            const email = of("email");
            const state = emails.get(email?.toLowerCase())?.state;
            return [
              id,
              {
                external_id: user.externalId,
                user_aliases: sorted(of("user_aliases") ?? []),
                created_at: isoTime(new Date(of("created_at"))),
                first_name: of("first_name"),
                email,
                phone: of("phone"),
                email_subscribe: email
                  ? (state ?? "subscribed")
                  : (of("email_subscribe") ?? "subscribed"),
                custom_attributes: Object.fromEntries(custom),
                custom_events: tallies(did.events),
                purchases: tallies(did.purchases),
                total_revenue: Math.round(did.revenue * 100) / 100,
                subscription_groups: Object.fromEntries(user.groups),
              },
            ];
          }),
      );
    },
  };
}

const sorted = (aliases: readonly any[]) => aliases.map((each) => JSON.stringify(each)).sort();

const tallies = (of: Map<string, Tally>) =>
  Object.fromEntries(
    [...of].map(([name, { count, first, last }]) => [
      name,
      { name, first: isoTime(new Date(first)), last: isoTime(new Date(last)), count },
    ]),
  );

/** Exported users in the same form. */
export const shownIn = (exported: readonly Record<string, any>[]): Record<string, unknown> =>
  Object.fromEntries(
    exported.map((user) => [
      user.platform_id,
      {
        external_id: user.external_id ?? null,
        user_aliases: sorted(
          (user.user_aliases ?? []).map(({ alias_name, alias_label }: any) => ({
            alias_name,
            alias_label,
          })),
        ),
        created_at: user.created_at,
        first_name: user.first_name ?? null,
        email: user.email ?? null,
        phone: user.phone ?? null,
        email_subscribe: user.email_subscribe,
        custom_attributes: user.custom_attributes ?? {},
        custom_events: byName(user.custom_events ?? []),
        purchases: byName(user.purchases ?? []),
        total_revenue: Math.round((user.total_revenue ?? 0) * 100) / 100,
        subscription_groups: Object.fromEntries(
          (user.subscription_groups ?? []).map(({ id, status }: any) => [id, status]),
        ),
      },
    ]),
  );

const byName = (entries: readonly any[]) =>
  Object.fromEntries(
    entries.map(({ name, first, last, count }) => [name, { name, first, last, count }]),
  );
