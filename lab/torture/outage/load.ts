/* 50 requests a second of two workspaces, and an account of each that does not depend on the server. */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type postgres from "postgres";
import { NEWSLETTER } from "../../../test/harness.ts";
import { type Stage, USERS } from "./stage.ts";

const EVERY_MS = 20;

/** The user that a fault may lock: one in 34 requests names it. */
export const LOCKED_USER = "u5";

/** A response that does not come for this long counts as none. */
const LONGEST_MS = 60_000;

/** What became of one request. */
export interface Asked {
  readonly kind: Kind;
  readonly server: number;
  readonly isOfLocked: boolean;
  /** Since the load began. */
  readonly sentMs: number;
  /** Until its first response. */
  readonly ms: number;
  /** 0 without a response. */
  readonly status: number;
  /** What a track request writes, by its number: all of these events or none. */
  readonly events: readonly string[];
  readonly workspace: number;
  /** Whether it was acknowledged in the end. */
  readonly isAcknowledged: boolean;
}

type Kind = "track" | "email status" | "subscription" | "alias" | "export";

export interface Load {
  readonly asked: readonly Asked[];
  /** Milliseconds since it began. */
  now(): number;
  /** Which servers get requests; both without it. */
  only(server: number | undefined): void;
  /** Stops sending, and waits for all responses. */
  end(): Promise<void>;
}

export function startLoad(stage: Stage, run: string): Load {
  const asked: Asked[] = [];
  const startedAt = performance.now();
  const now = () => performance.now() - startedAt;
  const pending = new Set<Promise<void>>();
  let onlyServer: number | undefined;
  let sent = 0;

  async function one(number: number): Promise<void> {
    const workspace = number % 2;
    const server = onlyServer ?? (number >> 1) % 2;
    const user = (offset: number) =>
      number % 34 === 0 && offset === 0
        ? LOCKED_USER
        : `u${((number >> 1) * 7 + offset * 31) % USERS}`;
    const { kind, path, body, users, events } = requestOf(number, run, user);
    const key = kind === "track" && number % 3 !== 0 ? randomUUID() : undefined;
    const sentMs = now();
    const send = (to: number) => sendOnce(stage, to, workspace, { path, body, key });
    const first = await send(server);
    const ms = now() - sentMs;
    let { status } = first;
    // With a key a request is sent again until it has an answer; without one that would double it.
    for (let tries = 0; key && isToBeRepeated(first.status) && tries < 300; tries++) {
      if (!isToBeRepeated(status)) break;
      await sleep(200);
      ({ status } = await send(onlyServer ?? (server + tries) % 2));
    }
    asked.push({
      kind,
      server,
      isOfLocked: users.includes(LOCKED_USER),
      sentMs,
      ms,
      status: first.status,
      events,
      workspace,
      isAcknowledged: status >= 200 && status < 300,
    });
  }

  const timer = setInterval(() => {
    // After a pause of this process the missed ones are not made up for.
    const asking = one(sent++).finally(() => pending.delete(asking));
    pending.add(asking);
  }, EVERY_MS);
  return {
    asked,
    now,
    only(server) {
      onlyServer = server;
    },
    async end() {
      clearInterval(timer);
      await Promise.all(pending);
    },
  };
}

const isToBeRepeated = (status: number): boolean =>
  status === 0 || status === 429 || status === 409 || status >= 500;

function requestOf(number: number, run: string, user: (offset: number) => string) {
  const place = number % 20;
  const others = (kind: Kind, path: string, body: unknown, users: readonly string[]) => ({
    kind,
    path,
    body,
    users,
    events: [],
  });
  const [first, second, third] = [user(0), user(1), user(2)];
  if (place === 16) {
    const body = { email: `${first}@example.com`, subscription_state: "opted_in" };
    return others("email status", "/email/status", body, [first]);
  }
  if (place === 17) {
    const body = {
      subscription_group_id: NEWSLETTER,
      subscription_state: "subscribed",
      external_id: [first],
    };
    return others("subscription", "/subscription/status/set", body, [first]);
  }
  if (place === 18) {
    const alias = { external_id: first, alias_name: `${run}-${number}`, alias_label: "outage" };
    return others("alias", "/users/alias/new", { user_aliases: [alias] }, [first]);
  }
  if (place === 19) {
    return others("export", "/users/export/ids", { external_ids: [first] }, []);
  }
  const users = place % 5 === 0 ? [first, second, third] : [first];
  const names = users.map((_, index) => `${run}-${number}-${index}`);
  const body = {
    attributes: users.map((external_id) => ({ external_id, written: number })),
    events: users.map((external_id, index) => ({
      external_id,
      name: "ledger",
      time: new Date().toISOString(),
      // So much that a full disk is met soon.
      properties: { entry: names[index], filling: randomBytes(500).toString("hex") },
    })),
  };
  return { kind: "track" as const, path: "/users/track", body, users, events: names };
}

async function sendOnce(
  stage: Stage,
  server: number,
  workspace: number,
  { path, body, key }: { path: string; body: unknown; key: string | undefined },
): Promise<{ status: number }> {
  try {
    const response = await fetch(`${stage.servers[server]?.url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${stage.workspaces[workspace]?.key}`,
        "content-type": "application/json",
        ...(key && { "idempotency-key": key }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    await response.arrayBuffer();
    return { status: response.status };
  } catch {
    return { status: 0 };
  }
}

/** The rows of the database beside what callers were told. */
export interface Account {
  readonly acknowledged: number;
  /** Events of acknowledged requests that are not there. */
  readonly lost: number;
  /** Requests of which some events are there. */
  readonly partial: number;
  /** Events that are there more than once. */
  readonly doubled: number;
}

export async function accountOf(
  sql: postgres.Sql,
  run: string,
  asked: readonly Asked[],
): Promise<Account> {
  const rows = await sql<{ entry: string; count: number }[]>`
    select properties ->> 'entry' as entry, count(*)::int as count from events
    where name = 'ledger' and properties ->> 'entry' like ${`${run}-%`} group by 1`;
  const counts = new Map(rows.map(({ entry, count }) => [entry, count]));
  const tracks = asked.filter(({ events }) => events.length > 0);
  const there = (events: readonly string[]) => events.filter((entry) => counts.has(entry)).length;
  const acknowledged = tracks.filter(({ isAcknowledged }) => isAcknowledged);
  return {
    acknowledged: acknowledged.length,
    lost: acknowledged.reduce((sum, { events }) => sum + events.length - there(events), 0),
    partial: tracks.filter(({ events }) => ![0, events.length].includes(there(events))).length,
    doubled: [...counts.values()].filter((count) => count > 1).length,
  };
}
