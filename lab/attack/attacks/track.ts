import { ATTACKER_KEY } from "../attacked-server.ts";
import { head, holdSockets } from "../sockets.ts";
import { type Attack, type Heard, mustHold, scaled, type Target, tally, times } from "../target.ts";

/* Attacks with a key on stored user data. */

const track = (target: Target, body: unknown): Promise<Heard> =>
  target.send("POST", "/users/track", body);

async function inTurn(count: number, send: (index: number) => Promise<Heard>): Promise<Heard[]> {
  const responses: Heard[] = [];
  for (let index = 0; index < count; index++) responses.push(await send(index));
  return responses;
}

const updates = (count: number) =>
  times(count, (index) => ({
    $identifier_key: "i",
    $identifier_value: 1,
    $new_object: { age: index },
  }));

async function manyObjects(target: Target): Promise<void> {
  const pets = times(12_500, () => ({ i: 1 }));
  const { text } = await track(target, { attributes: [{ external_id: "objects", pets }] });
  if (text.includes("errors")) throw new Error(text);
}

const updatesOfObjects = (items: number): Attack["run"] => {
  const body = JSON.stringify({
    attributes: times(items, () => ({
      external_id: "objects",
      _merge_objects: true,
      pets: { $update: updates(100) },
    })),
  });
  return async (target) => {
    const response = await track(target, body);
    const { errors = [] } = JSON.parse(response.text) as { errors?: { code?: string }[] };
    return `${tally([response])}; ${errors.length} of ${items} items: ${errors[0]?.code}`;
  };
};

/** Parts of event properties that take most of the time, or memory, for their size: made from their index. */
const COSTLY_PROPERTIES: Readonly<Record<string, (index: number) => string>> = {
  "empty objects": () => "{}",
  numbers: () => "1",
  "objects with different names": (index) => `{"${index.toString(36)}":1}`,
  "arrays in arrays": () => `${"[".repeat(90)}${"]".repeat(90)}`,
};

function fullEvent(part: (index: number) => string): string {
  const parts: string[] = [];
  for (let bytes = 10, index = 0; ; index++) {
    const next = part(index);
    bytes += next.length + 1;
    if (bytes > 51_200) break;
    parts.push(next);
  }
  const properties = `{"a":[${parts.join()}]}`;
  return `{"external_id":"full","name":"full","time":"2026-01-01T00:00:00Z","properties":${properties}}`;
}

/** About 3.9 MB of attributes with names that no request before used. */
const largeAttributes = (request: number, external_id = "unbounded") => ({
  attributes: times(40, (item) => ({
    external_id,
    [`a${request}_${item}`]: times(380, () => "x".repeat(250)),
  })),
});

/** Of these, an export has almost the 4 MiB that it may have. */
const LARGE_USERS = times(3, (index) => `large-${index}`);

const exportOf = (key: string): string => {
  const body = JSON.stringify({ external_ids: LARGE_USERS });
  return `${head("/users/export/ids", body.length, key)}${body}`;
};

/** Objects that each are at fault, 4 MB of them. */
const wrongObjects = (text: string): string => text.repeat(Math.floor(4_190_000 / text.length));

const wrong = (name: string, path: string, list: string, object: string): Attack => ({
  name,
  before: "about a second of processor time",
  run: async (target) => {
    const objects = wrongObjects(`${object},`);
    const whole = `{"${list}":[${objects.slice(0, -1)}]}`;
    const token = path.startsWith("/admin") ? target.server.adminToken : ATTACKER_KEY;
    return tally([await target.send("POST", path, whole, { token })]);
  },
});

export const TRACK_ATTACKS: readonly Attack[] = [
  {
    name: "$update of an array of 12,500 objects, 50 × 100 times (343 KB)",
    before: "health blocked for 133 s",
    prepare: manyObjects,
    run: updatesOfObjects(50),
  },
  {
    name: "$update of an array of 12,500 objects, 100 times (6.9 KB)",
    before: "health blocked for 3 s",
    prepare: manyObjects,
    run: updatesOfObjects(1),
  },
  {
    name: "68 requests that grow one profile to 265 MB, then 10 increments",
    before: "500; other workspaces delayed by 18 s",
    run: async (target) => {
      const grown = await inTurn(scaled(target, 68), (index) =>
        track(target, largeAttributes(index)),
      );
      const counted = await inTurn(scaled(target, 10), () =>
        track(target, { attributes: [{ external_id: "unbounded", count: { inc: 1 } }] }),
      );
      return tally([...grown, ...counted]);
    },
  },
  {
    name: "60 clients that do not read an export",
    before: "7 GB of memory",
    prepare: async (target) => {
      for (const user of LARGE_USERS) await track(target, largeAttributes(0, user));
    },
    run: (target) =>
      holdSockets(target, {
        // The same number in tests: the attack is about what the server holds for all of them
        // together.
        count: 60,
        bytes: exportOf(ATTACKER_KEY),
        reads: false,
      }),
  },
  {
    name: "a merge of 50 pairs of users with large profiles",
    before: "not tried",
    prepare: async (target) => {
      const attributes = (from: number) =>
        times(25, (index) => ({
          external_id: `merged-${from + index}`,
          ...Object.fromEntries(times(90, (at) => [`a${at}`, times(40, (each) => `${each}`)])),
        }));
      await inTurn(4, (turn) => track(target, { attributes: attributes(25 * turn) }));
    },
    run: async (target) => {
      const user = (index: number) => ({ external_id: `merged-${index}` });
      const merge_updates = times(50, (index) => ({
        identifier_to_merge: user(index),
        identifier_to_keep: user(50 + index),
      }));
      return tally([await target.send("POST", "/users/merge", { merge_updates })]);
    },
  },
  wrong("4 MB of wrong events", "/users/track", "events", "{}"),
  wrong("4 MB of wrong attributes", "/users/track", "attributes", '{"a":"\\ud800"}'),
  wrong("4 MB of wrong merges", "/users/merge", "merge_updates", "{}"),
  wrong("4 MB of wrong users to delete", "/users/delete", "external_ids", '""'),
  wrong("4 MB of wrong ids to export", "/users/export/ids", "external_ids", "1"),
  wrong(
    "4 MB of wrong users to import",
    "/admin/v1/workspaces/attacked/import",
    "users",
    '{"external_id":1}',
  ),
  wrong(
    "4 MB of wrong group states",
    "/v2/subscription/status/set",
    "subscription_groups",
    '{"external_ids":[1]}',
  ),
  wrong("4 MB of wrong workspaces in a manifest", "/admin/v1/apply", "workspaces", '{"name":1}'),
  {
    name: "4 MB of nested arrays in an attribute",
    before: "not tried",
    run: async (target) => {
      const value = `${"[".repeat(90)}1${"]".repeat(90)},`.repeat(
        Math.floor(20_000 / target.shrink),
      );
      const body = `{"attributes":[{"external_id":"a","b":[${value.slice(0, -1)}]}]}`;
      return tally([await track(target, body)]);
    },
  },
  ...Object.entries(COSTLY_PROPERTIES).map(([shape, part]) => ({
    name: `50 events with 50 KB each of ${shape}`,
    before: "refused",
    run: async (target: Target) => {
      const events = times(50, () => fullEvent(part));
      const response = await track(target, `{"events":[${events.join()}]}`);
      mustHold(response.status === 201, response.text);
      return tally([response]);
    },
  })),
  {
    name: "200,000 attribute names in 75 objects",
    before: "not tried",
    run: async (target) => {
      const names = scaled(target, 2_600);
      const attributes = times(50, (item) => ({
        external_id: `names-${item}`,
        ...Object.fromEntries(times(names, (index) => [`n${item}_${index}`, index])),
      }));
      return tally([await track(target, { attributes })]);
    },
  },
  {
    name: "300 requests with different wrong keys",
    before: "not throttled",
    run: async (target) => {
      const heard = await inTurn(scaled(target, 300), (index) =>
        target.send("POST", "/users/track", {}, { token: `wrong-key-${index}` }),
      );
      mustHold(target.shrink > 1 || heard.some(({ status }) => status === 429), "No 429 came.");
      return tally(heard);
    },
  },
];
