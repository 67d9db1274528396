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
import type { AttributesUpdate, EventUpdate } from "./updates.ts";

/*
 * PostGraphile serves tables as GraphQL. The mutations of one request run in one transaction. The text of the query is
 * the same for all requests of a size, so it is parsed and checked once, and it selects nothing that was written.
 */

const TABLES = [
  `create table users (
     external_id text primary key, first_name text, last_name text, country text, language text, home_city text,
     plan text, score double precision, last_page text, tags jsonb, newsletter boolean, spent double precision)`,
  `create table events (
     id bigint primary key generated always as identity, external_id text not null, name text not null,
     occurred_at timestamptz not null, properties jsonb)`,
];

const headers = { "content-type": "application/json" };

const queries = new Map<string, string>();

/** One mutation with this many updates, in numbered variables. */
function queryOf(attributes: number, events: number): string {
  const key = `${attributes} ${events}`;
  const known = queries.get(key);
  if (known !== undefined) return known;
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  const variables = [
    ...numbers(attributes).map((n) => `$u${n}: UpdateUserByExternalIdInput!`),
    ...numbers(events).map((n) => `$e${n}: CreateEventInput!`),
  ];
  const fields = [
    ...numbers(attributes).map(
      (n) => `u${n}: updateUserByExternalId(input: $u${n}) { clientMutationId }`,
    ),
    ...numbers(events).map((n) => `e${n}: createEvent(input: $e${n}) { clientMutationId }`),
  ];
  const query = `mutation(${variables.join()}){${fields.join(" ")}}`;
  queries.set(key, query);
  return query;
}

const updateInput = ({ user, attributes: { standard, custom } }: AttributesUpdate) => ({
  externalId: externalIdOf(user),
  userPatch: {
    homeCity: standard.home_city,
    plan: custom.plan,
    score: custom.score,
    lastPage: custom.last_page,
  },
});

const eventInput = ({ user, event: { name, at, properties } }: EventUpdate) => ({
  event: {
    externalId: externalIdOf(user),
    name,
    occurredAt: new Date(at).toISOString(),
    properties,
  },
});

export const postGraphile: Contender = {
  title: `PostGraphile ${PEERS.postgraphile.version}`,
  dialect: {
    faults: ['"errors"'],
    requestOf({ attributes, events }) {
      const variables = Object.fromEntries([
        ...attributes.map((update, n) => [`u${n}`, updateInput(update)]),
        ...events.map((update, n) => [`e${n}`, eventInput(update)]),
      ]);
      const query = queryOf(attributes.length, events.length);
      const body = Buffer.from(JSON.stringify({ query, variables }));
      return { method: "POST", path: "/graphql", headers, body };
    },
  },
  async prepare(dataset, { users }) {
    await dataset.run([
      ...TABLES,
      insertUsers("users", USER_COLUMNS, users),
      insertEvents("events", EVENT_COLUMNS, users),
      "create index on events (external_id)",
      ...SETTLE,
    ]);
  },
  async start(dataset, setting) {
    const host = await startHost("postgraphile", dataset, setting);
    setting.atEnd(() => host.stop());
    return { url: host.greeting as string, processId: host.processId };
  },
  countEvents: "select count(*) as rows from events",
  countChangedUsers: countChanged("users", (name) => `${name}::text`),
};
