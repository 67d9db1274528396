import { ATTACKED } from "../attacked-server.ts";
import { type Attack, mustHold, scaled, type Target, tally, times } from "../target.ts";

/* Filters of segments that make more work than their length suggests. Others wait while the embedded engine counts. */

const ALL_COMPARATORS = {
  equals: "x",
  not_equals: "x",
  contains: "x",
  starts_with: "x",
  more_than: 1,
  at_least: 1,
  less_than: 1,
  at_most: 1,
  before: "2026-01-01",
  after: "2020-01-01",
  in_last_days: 3,
  more_than_days_ago: 3,
  in_next_days: 3,
  day_of_year: "12-31",
  includes: "x",
  includes_any: ["x"],
  includes_all: ["x"],
  exists: true,
  one_of: ["x"],
  none_of: ["x"],
};

const path = (steps: number): string => times(steps, () => "a").join(".");

const segments = (what: string): string => `/admin/v1/workspaces/${ATTACKED}/segments/${what}`;

const SEGMENT = "88888888-0000-4000-8000-000000000001";

/** Sends a filter wherever one is taken: counted, counted as a job, listed, saved. */
async function sendEverywhere(target: Target, filter: object): Promise<string> {
  const responses = [
    await target.admin("POST", segments("count"), { filter, parts: true, reach: true }),
    await target.admin("POST", segments("count"), { filter, exact: true, wait_s: 0 }),
    await target.admin("POST", segments("users"), { filter }),
    await target.admin("PUT", segments(SEGMENT), { name: "Costly", filter }),
  ];
  for (const { status, text } of responses) {
    mustHold(status === 400 && text.includes("'filter"), `${status} ${text.slice(0, 200)}`);
  }
  return tally(responses);
}

const USERS = 5_000;

/** A text that may be a time, so that the program has to look at each. */
const attributesOf = (index: number) => ({
  external_id: `segment-${index}`,
  email: `segment-${index}@attack.example`,
  list: ["a", "b", index],
  a: times(9, () => 0).reduce<object | string>((inner) => ({ a: inner }), "2026-01-31"),
  ...Object.fromEntries(times(10, (name) => [`t${name}`, `${name} apples of ${index}`])),
});

async function fill(target: Target): Promise<void> {
  const requests = Math.ceil(scaled(target, USERS) / 50);
  for (let request = 0; request < requests; request++) {
    const attributes = times(50, (index) => attributesOf(50 * request + index));
    const { status, text } = await target.send("POST", "/users/track", { attributes });
    mustHold(status === 201, text);
  }
}

const fifty = (leafOf: (index: number) => object) => ({ any: times(50, leafOf) });

const dayOf = (index: number): string => `20${String(10 + index)}-01-01`;

const FIVE_TIMES = (index: number) => ({
  before: dayOf(index),
  after: "2001-01-01",
  in_last_days: 1 + index,
  more_than_days_ago: 3 + index,
  in_next_days: 3 + index,
});

const texts = (index: number): string[] =>
  times(1_000, (value) => `value-${index}-${value}`.padEnd(60, "x"));

/** The largest filters that are accepted. */
const LARGEST: Readonly<Record<string, object>> = {
  "50 conditions of 10 steps and 5 comparators of times": fifty((index) => ({
    custom_attribute: path(10),
    ...FIVE_TIMES(index),
  })),
  "50 conditions on texts that may be times": fifty((index) => ({
    custom_attribute: `t${index % 10}`,
    ...FIVE_TIMES(index),
  })),
  "50 lists of 1,000 texts": fifty((index) => ({
    custom_attribute: "t0",
    one_of: texts(index),
  })),
  "50 conditions on properties of events": fifty((index) => ({
    event: "came",
    in_last_days: 1 + (index % 30),
    where: { property: path(10), ...FIVE_TIMES(index) },
  })),
};

async function useEverywhere(target: Target, filter: object): Promise<string> {
  return tally([
    await target.admin("POST", segments("count"), { filter, parts: true, reach: true }),
    await target.admin("POST", segments("count"), { filter, exact: true, wait_s: 1 }),
    await target.admin("POST", segments("users"), { filter }),
  ]);
}

export const SEGMENT_ATTACKS: readonly Attack[] = [
  {
    name: "1.4 KB: a condition of 512 steps with all comparators",
    before: "others wait 6 to 9 s, 800 MB more",
    bounds: { grownMb: 50 },
    run: (target) => sendEverywhere(target, { custom_attribute: path(512), ...ALL_COMPARATORS }),
  },
  {
    name: "24 KB: 50 conditions of 64 steps with all comparators",
    before: "the embedded engine ends; 6.9 GB in PostgreSQL; as a job again after each start",
    bounds: { grownMb: 50 },
    run: (target) =>
      sendEverywhere(
        target,
        fifty(() => ({ custom_attribute: path(64), ...ALL_COMPARATORS })),
      ),
  },
  {
    name: "53 KB: 50 conditions of 512 steps, more parameters than the protocol has",
    before: "503 with an error of the protocol",
    bounds: { grownMb: 50 },
    run: (target) =>
      sendEverywhere(
        target,
        fifty(() => ({ custom_attribute: path(512), equals: "x" })),
      ),
  },
  ...Object.entries(LARGEST).map(
    ([name, filter]): Attack => ({
      name: `a segment of ${name}, counted, divided, listed`,
      before: "not tried",
      bounds: { grownMb: 300 },
      prepare: fill,
      run: (target) => useEverywhere(target, filter),
    }),
  ),
];
