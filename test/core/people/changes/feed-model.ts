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
  const users = new Map<string, KnownUser>();
  /** The end of users: merged into another one, or deleted. */
  const gone = new Map<string, string | undefined>();
  const emails = new Map<string, { state: string }>();

  const leadsTo = (id: string): string | undefined => {
    if (!gone.has(id)) return id;
    const next = gone.get(id);
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
    const owner = leadsTo(id);
    if (owner === undefined) return;
    const user = userOf(owner);
    if (change.type === "event.logged") tally(user.events, change.name, change.time, 1);
    else {
      tally(user.purchases, change.product_id, change.time, change.quantity);
      user.revenue += change.price * change.quantity;
    }
  }

  function merge(keptId: string, mergedId: string, keepsActivity: boolean): void {
    const merged = users.get(mergedId);
    users.delete(mergedId);
    gone.set(mergedId, keepsActivity ? keptId : undefined);
    if (!merged || !keepsActivity) return;
    const owner = leadsTo(keptId);
    if (owner === undefined) return;
    const kept = userOf(owner);
    add(kept.events, merged.events);
    add(kept.purchases, merged.purchases);
    kept.revenue += merged.revenue;
  }

  return {
    apply(change: FeedChange): void {
      const { type, user } = change;
      if (type === "email_state.changed") {
        emails.set(change.email, { state: change.after });
        return;
      }
      const id = user?.platform_id as string;
      if (type === "event.logged" || type === "purchase.logged") {
        happened(id, change);
        return;
      }
      if (type === "user.merged") {
        merge(id, change.merged.platform_id, change.keeps_activity);
        return;
      }
      if (type === "user.deleted") {
        users.delete(id);
        gone.set(id, undefined);
        return;
      }
      if (gone.has(id)) return;
      const known = userOf(id);
      if (user?.external_id !== undefined) known.externalId = user.external_id;
      if (type === "subscription.changed") {
        known.groups.set(change.subscription_group_id, change.after);
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
        [...users].map(([id, user]) => {
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
              custom_events: tallies(user.events),
              purchases: tallies(user.purchases),
              total_revenue: Math.round(user.revenue * 100) / 100,
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
