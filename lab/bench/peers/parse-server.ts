import { externalIdOf } from "../workloads/users.ts";
import type { Contender } from "./contender.ts";
import { startHost } from "./hosts/start-host.ts";
import { PEERS } from "./packages.ts";
import {
  countChanged,
  EVENT_COLUMNS,
  insertEvents,
  insertUsers,
  SETTLE,
  USER_COLUMNS,
} from "./seed.ts";

/*
 * Parse updates an object by its own id, so the load knows the ids and no query has to find them. Requests carry the
 * master key, which leaves out access control and class-level permissions.
 *
 * Batches are not transactions (`transaction: true`): in this version concurrent ones share one state, and the
 * writes of one are committed or rolled back with another's (CVE-2026-109954).
 */

export const APPLICATION = "bench";
export const MASTER_KEY = "master-key-of-the-benchmark";
export const MOUNT = "/parse";

const USERS = `${MOUNT}/classes/Person`;
const EVENTS = `${MOUNT}/classes/Event`;

/** Of ten characters, as Parse makes them; in order, so that its index is as small as can be. */
const objectIdOf = (user: number): string => `u${String(user).padStart(9, "0")}`;

/** `objectIdOf` in SQL. */
const OBJECT_ID = "'u' || lpad(n::text, 9, '0')";

const OWN_COLUMNS = { createdAt: "'2026-01-01'", updatedAt: "'2026-01-01'" };

const CLASSES = [
  {
    className: "Person",
    fields: {
      ...Object.fromEntries(Object.keys(USER_COLUMNS).map((name) => [name, { type: "String" }])),
      score: { type: "Number" },
      tags: { type: "Array" },
      newsletter: { type: "Boolean" },
      spent: { type: "Number" },
    },
  },
  {
    className: "Event",
    fields: {
      external_id: { type: "String" },
      name: { type: "String" },
      occurred_at: { type: "Date" },
      properties: { type: "Object" },
    },
  },
];

const headers = {
  "x-parse-application-id": APPLICATION,
  "x-parse-master-key": MASTER_KEY,
  "content-type": "application/json",
};

export const parseServer: Contender = {
  title: `parse-server ${PEERS["parse-server"].version}`,
  dialect: {
    faults: ['"error"'],
    requestOf({ attributes, events }) {
      const requests = [
        ...attributes.map(({ user, attributes: { standard, custom } }) => ({
          method: "PUT" as const,
          path: `${USERS}/${objectIdOf(user)}`,
          body: { ...standard, ...custom },
        })),
        ...events.map(({ user, event: { name, at, properties } }) => ({
          method: "POST" as const,
          path: EVENTS,
          body: {
            external_id: externalIdOf(user),
            name,
            occurred_at: { __type: "Date", iso: new Date(at).toISOString() },
            properties,
          },
        })),
      ];
      const [only, another] = requests;
      const request =
        only && !another
          ? only
          : { method: "POST" as const, path: `${MOUNT}/batch`, body: { requests } };
      return { ...request, headers, body: Buffer.from(JSON.stringify(request.body)) };
    },
  },
  async prepare(dataset, setting) {
    const host = await startHost("parse-server", dataset, { ...setting, processes: 1 });
    await createClasses(host.greeting as string);
    await host.stop();
    await dataset.run([
      insertUsers(
        '"Person"',
        { objectId: OBJECT_ID, ...OWN_COLUMNS, ...USER_COLUMNS },
        setting.users,
      ),
      insertEvents(
        '"Event"',
        { objectId: `'e' || lpad((n * 10 + k)::text, 9, '0')`, ...OWN_COLUMNS, ...EVENT_COLUMNS },
        setting.users,
      ),
      'create unique index on "Person" (external_id)',
      'create index on "Event" (external_id)',
      ...SETTLE,
    ]);
  },
  async start(dataset, setting) {
    const host = await startHost("parse-server", dataset, setting);
    setting.atEnd(() => host.stop());
    return { url: host.greeting as string, processId: host.processId };
  },
  countEvents: 'select count(*) as rows from "Event"',
  countChangedUsers: countChanged('"Person"', (name) => `${name}::text`),
};

async function createClasses(url: string): Promise<void> {
  for (const each of CLASSES) {
    const response = await fetch(`${url}${MOUNT}/schemas/${each.className}`, {
      method: "POST",
      headers,
      body: JSON.stringify(each),
    });
    if (!response.ok) throw new Error(`parse-server: ${await response.text()}`);
  }
}
