import { Agent, type ClientRequest, get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { type Attack, mustHold, scaled, type Target } from "../target.ts";

/* Many readers of one change feed, who take turns together (docs/decisions/change-feed.md). */

const FEED = "feed";
const WRITER = "key-of-the-feed-that-writes";
const READER = "key-of-the-feed-that-reads";

/** How long readers wait while others write, and how often. */
const LASTS_MS = 10_000;
const WRITE_EVERY_MS = 100;

/** A change reaches each of 200 readers within a quarter of a second on an idle machine. */
const LATEST_MS = 1_000;

async function declareFeed(target: Target): Promise<void> {
  const key = (name: string, secret: string, permissions: readonly string[]) => ({
    ...{ name, key: secret, permissions },
  });
  const rate_limits = { "users.track": "off", "changes.get": "off" };
  const { status, text } = await target.admin("POST", "/admin/v1/apply", {
    company: { name: "Attack" },
    workspaces: [
      {
        name: FEED,
        settings: { change_feed: true, rate_limits },
        api_keys: [key("writer", WRITER, ["all"]), key("reader", READER, ["changes.get"])],
      },
    ],
  });
  mustHold(status === 200, text);
  await write(target, 0);
}

async function write(target: Target, index: number): Promise<void> {
  const attributes = [{ external_id: `u${index % 5}`, written_at: Date.now() }];
  await target.send("POST", "/users/track", { attributes }, { token: WRITER });
}

interface Herd {
  readonly statuses: ReadonlyMap<number, number>;
  /** For how long the changes had been written when a reader had them, in milliseconds. */
  readonly lateMs: readonly number[];
  open(): void;
  close(): void;
}

/** Readers that wait for changes, and go on after each response. */
function createHerd({ server }: Target, query: string): Herd {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const requests = new Set<ClientRequest>();
  const statuses = new Map<number, number>();
  const lateMs: number[] = [];
  let isOpen = true;

  function hear(text: string): string {
    const { changes, cursor } = JSON.parse(text);
    for (const { values } of changes) {
      const writtenAt = values?.["custom_attributes.written_at"];
      if (writtenAt) lateMs.push(Date.now() - writtenAt);
    }
    return cursor;
  }

  function open(cursor?: string): void {
    if (!isOpen) return;
    const path = `/changes?wait_s=60&${query}${cursor ? `&cursor=${cursor}` : ""}`;
    const headers = { authorization: `Bearer ${READER}` };
    const sent = get(server.url + path, { agent, headers }, async (response) => {
      const { statusCode = 0 } = response;
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
      const chunks: Buffer[] = await response.toArray().catch(() => []);
      requests.delete(sent);
      if (statusCode === 200 && isOpen) open(hear(Buffer.concat(chunks).toString()));
    });
    requests.add(sent.on("error", () => requests.delete(sent)));
  }

  return {
    statuses,
    lateMs,
    open,
    close() {
      isOpen = false;
      for (const sent of requests) sent.destroy();
      agent.destroy();
    },
  };
}

/** Readers wait while their workspace is written to. */
async function keepHerd(target: Target, count: number, query: string): Promise<Herd> {
  const herd = createHerd(target, query);
  for (let index = 0; index < count; index++) {
    herd.open();
    if (index % 50 === 49) await pause(10);
  }
  const until = Date.now() + LASTS_MS / Math.min(target.shrink, 5);
  for (let index = 0; Date.now() < until; index++) {
    void write(target, index);
    await pause(WRITE_EVERY_MS);
  }
  herd.close();
  return herd;
}

async function hangUp(target: Target): Promise<string> {
  const rounds = 21;
  for (let round = 0; round < rounds; round++) {
    const herd = createHerd(target, "types=sync.finished");
    for (let index = 0; index < scaled(target, 100); index++) herd.open();
    await pause(100);
    herd.close();
  }
  await pause(100);
  const { status } = await target.send("GET", "/changes?wait_s=1", undefined, { token: READER });
  mustHold(status === 200, `Another reader gets ${status}.`);
  return "another reader is served at once";
}

/** What a key has opened ends this long after the key, at most, on an idle machine; here others keep it busy. */
const ENDS_WITHIN_MS = 2_000;

/** A long poll, a link and an archive that nobody reads, of a key that is then revoked. */
async function outlive(target: Target): Promise<string> {
  const path = `/admin/v1/workspaces/${FEED}`;
  const segment = "77777777-0000-4000-8000-000000000001";
  const filter = { attribute: "external_id", exists: true };
  await target.admin("PUT", `${path}/segments/${segment}`, { name: "All", filter });
  const name = `revoked-${Date.now()}`;
  const permissions = ["changes.get", "users.export.segment"];
  const made = await target.admin("POST", `${path}/api-keys`, { name, permissions });
  mustHold(made.status === 201, made.text);
  const { key: token } = JSON.parse(made.text) as { key: string };
  const wanted = { segment_id: segment, fields_to_export: ["external_id"] };
  const asked = await target.send("POST", "/users/export/segment", wanted, { token });
  mustHold(asked.status === 201, asked.text);
  const link = new URL((JSON.parse(asked.text) as { url: string }).url).pathname;
  const poll = target.send("GET", "/changes?wait_s=30&types=sync.finished", undefined, { token });
  await pause(300);
  await target.admin("DELETE", `${path}/api-keys/${name}`);
  const revokedAt = performance.now();
  const { status } = await poll;
  const tookMs = Math.round(performance.now() - revokedAt);
  const opened = (await target.send("GET", link)).status;
  mustHold(
    status === 401 && opened === 404 && tookMs <= ENDS_WITHIN_MS,
    `The poll got ${status} after ${tookMs} ms, the link ${opened}.`,
  );
  return `the poll got 401 after ${tookMs} ms, the link 404`;
}

export const FEED_ATTACKS: readonly Attack[] = [
  {
    name: "2,000 readers of a feed whose types do not come, and ten writes a second",
    before: "29 (embedded) and 65 (PostgreSQL) track requests of others in ten seconds",
    bounds: { healthP99Ms: 100, trackShare: 0.5 },
    prepare: declareFeed,
    async run(target) {
      const herd = await keepHerd(target, scaled(target, 2_000), "types=sync.finished");
      const responses = [...herd.statuses].map(([status, count]) => `${count} × ${status}`);
      mustHold(responses.length === 0, `Readers got ${responses}.`);
      return "all wait";
    },
  },
  {
    name: "200 readers of a feed who want everything, and ten writes a second",
    before: "14 (embedded) and 18 (PostgreSQL) track requests of others in ten seconds; 1.8 s late",
    bounds: { healthP99Ms: 100, trackShare: 0.33 },
    prepare: declareFeed,
    async run(target) {
      const { lateMs } = await keepHerd(target, scaled(target, 200), "limit=100");
      const latest = Math.max(...lateMs);
      mustHold(lateMs.length > 0 && latest <= LATEST_MS, `A change was ${latest} ms late.`);
      return `${lateMs.length} changes read, the latest after ${latest} ms`;
    },
  },
  {
    name: "2,100 readers of a feed who hang up",
    before: "429 for other readers of the workspace for a minute",
    prepare: declareFeed,
    run: hangUp,
  },
  {
    name: "a long poll and a link whose key is revoked",
    before: "the poll got changes for up to a minute, the link opened for four hours",
    prepare: declareFeed,
    run: outlive,
  },
];
