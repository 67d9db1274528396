/* `npm run torture -- faults`: what callers see of each fault, and what the database has afterwards. */
import { setTimeout as sleep } from "node:timers/promises";
import { OUTAGES, type Outage } from "./faults.ts";
import { type Account, type Asked, accountOf, startLoad } from "./load.ts";
import { openSql, openStage, type Stage } from "./stage.ts";

const BEFORE_MS = 3_000;

/** How long the servers may take to serve again, at most. */
const LATEST_MS = 60_000;

/** One run of one fault. */
interface Seen extends Account {
  readonly requests: number;
  readonly unavailable: number;
  readonly noResponse: number;
  readonly others: Times;
  /** Requests that name the locked user. */
  readonly locked: Times & { readonly unavailable: number };
  readonly longest503Ms: number;
  /** After the end of the fault, until the next 2xx of a write. */
  readonly servesAgainMs: number;
  readonly otherStatuses: readonly number[];
}

interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface FaultOptions {
  readonly engine: Stage["engine"];
  readonly times: number;
  readonly only?: string;
  /** Whether to say what each run found. */
  readonly each?: true;
}

/** @returns whether nothing was lost, applied in part, doubled, or refused in another way than with 429 or 503. */
export async function runFaults(
  { engine, times, only, each }: FaultOptions,
  say: (line: string) => void,
): Promise<boolean> {
  const chosen = OUTAGES.filter(
    ({ name, engines }) => (!engines || engines.includes(engine)) && (!only || name.includes(only)),
  );
  let isGood = true;
  say(HEAD);
  for (const outage of chosen) {
    const stage = await openStage(engine);
    const all: Seen[] = [];
    try {
      if (outage.needsDisk && !stage.disk) {
        say(`${outage.name}: not run, because it takes root to mount a small disk`);
        continue;
      }
      for (let turn = 0; turn < times; turn++) {
        const run = `${outage.name.replaceAll(/\W/g, "")}${turn}x${Date.now()}`;
        const seen = await runOnce(stage, outage, run);
        all.push(seen);
        if (each) say(JSON.stringify(seen));
      }
      say(lineOf(outage.name, all));
    } finally {
      await stage.end();
    }
    isGood &&= all.every(
      ({ lost, partial, doubled, otherStatuses }) =>
        lost + partial + doubled === 0 && otherStatuses.every((status) => status === 429),
    );
  }
  return isGood;
}

export async function runOnce(stage: Stage, outage: Outage, run: string): Promise<Seen> {
  const load = startLoad(stage, run);
  await sleep(BEFORE_MS);
  const begunMs = load.now();
  await outage.run(stage, load);
  const endedMs = load.now();
  const isServed = ({ sentMs, ms, status, kind }: Asked) =>
    kind === "track" && status === 201 && sentMs + ms > endedMs;
  while (!load.asked.some(isServed) && load.now() < endedMs + LATEST_MS) await sleep(50);
  await sleep(2_000);
  await load.end();
  const sql = openSql(stage);
  const account = await accountOf(sql, run, load.asked);
  await sql.end();
  const during = load.asked.filter(
    ({ sentMs, ms, server }) =>
      sentMs + ms >= begunMs && sentMs <= endedMs && server !== outage.victim,
  );
  const writes = during.filter(({ kind }) => kind !== "export");
  const refused = during.filter(({ status }) => status === 503);
  const locked = writes.filter(({ isOfLocked, workspace }) => isOfLocked && workspace === 0);
  const next = load.asked.filter(isServed).map(({ sentMs, ms }) => sentMs + ms - endedMs);
  return {
    ...account,
    requests: during.length,
    unavailable: refused.length,
    noResponse: during.filter(({ status }) => status === 0).length,
    others: timesOf(writes.filter((each) => !locked.includes(each)).map(({ ms }) => ms)),
    locked: {
      ...timesOf(locked.map(({ ms }) => ms)),
      unavailable: locked.filter(({ status }) => status === 503).length,
    },
    longest503Ms: Math.round(Math.max(0, ...refused.map(({ ms }) => ms))),
    servesAgainMs: Math.round(Math.min(...next)),
    otherStatuses: [
      ...new Set(
        during.map(({ status }) => status).filter((status) => status >= 400 && status !== 503),
      ),
    ],
  };
}

function timesOf(all: readonly number[]): Times {
  const sorted = [...all].sort((one, other) => one - other);
  const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: Math.round(sorted.at(-1) ?? 0) };
}

const HEAD = `| fault | requests | 503 | no response | p99 of writes, ms | longest 503, s | next 2xx after its end, s | acknowledged | lost | partial | doubled |
|---|---|---|---|---|---|---|---|---|---|---|`;

function lineOf(name: string, all: readonly Seen[]): string {
  const sum = (of: (seen: Seen) => number) => all.reduce((total, seen) => total + of(seen), 0);
  const range = (of: (seen: Seen) => number, digits = 0) => {
    const [least, most] = [Math.min(...all.map(of)), Math.max(...all.map(of))];
    const [from, to] = [least.toFixed(digits), most.toFixed(digits)];
    return from === to ? from : `${from} to ${to}`;
  };
  const strange = [...new Set(all.flatMap(({ otherStatuses }) => otherStatuses))];
  const unavailable = sum((seen) => seen.unavailable);
  return `| ${[
    name,
    sum((seen) => seen.requests),
    strange.length > 0 ? `${unavailable}, and ${strange.join(", ")}` : unavailable,
    sum((seen) => seen.noResponse),
    range((seen) => seen.others.p99),
    range((seen) => seen.longest503Ms / 1_000, 1),
    range((seen) => seen.servesAgainMs / 1_000, 1),
    sum((seen) => seen.acknowledged),
    sum((seen) => seen.lost),
    sum((seen) => seen.partial),
    sum((seen) => seen.doubled),
  ].join(" | ")} |`;
}
