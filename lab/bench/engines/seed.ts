import { createHash } from "node:crypto";
import { sealingKeyOf, sealWith } from "../../../src/core/admin/secrets/seal.ts";
import { BUCKETS, bucketOfValue, placeOf } from "../../../src/core/database/buckets.ts";
import { rowOf } from "../../../src/features/preference-centers/links.ts";
import { EVENT_NAMES } from "../workloads/updates.ts";
import { externalIdOf } from "../workloads/users.ts";

/*
 * The contents of the database before a measurement: users with attributes and a short history,
 * written with SQL because that takes seconds. The profile id follows from the user's number, in
 * SQL and in the program alike, and grows with it as ids do that the server makes.
 */

/** A server that applies its first manifest gives this number to the first workspace. */
export const SEEDED_WORKSPACE = 1;

/** The servers' `SECRET_KEY`, so that they can open what is sealed with it. */
export const SECRET_KEY = "secret-key-of-the-benchmark";

/** The secret that signs links to pages, so that the load can make them. */
export const LINK_SECRET = "bench-link-secret";

/** How many events every user has unless it is said, and of how many names. */
export const EVENTS_PER_USER = 2;
const NAMES_PER_USER = 5;

/** Milliseconds since the epoch: when user 0 was made, and one user each millisecond from then on. */
const FIRST_USER_AT = 1_700_000_000_000;

/**
 * The profile id of a user, in binary: a UUIDv7 whose random part is the MD5 of the number, and whose last
 * byte puts it into the bucket of the external_id, as in ids that the server makes.
 */
export function profileIdOf(user: number): Uint8Array {
  const known = idCache.get(user);
  if (known) return known;
  const random = createHash("md5").update(String(user)).digest("hex");
  const time = (FIRST_USER_AT + user).toString(16).padStart(12, "0");
  const id = Buffer.from(`${time}7${random.slice(0, 3)}8${random.slice(3, 18)}`, "hex");
  id[id.length - 1] = placeOf(SEEDED_WORKSPACE, externalIdOf(user));
  idCache.set(user, id);
  return id;
}

const idCache = new Map<number, Uint8Array>();

/** The bucket of a user's profile and of its external_id. */
export const bucketOfUser = (user: number): number =>
  bucketOfValue(SEEDED_WORKSPACE, externalIdOf(user));

/** `placeOf` (src/core/database/buckets.ts) in SQL, for values of ASCII characters. */
const PLACE_FUNCTION = `
  create function bench_place(value text) returns int language plpgsql immutable parallel safe as $$
    declare hash bigint = ((${0x811c9dc5} # ${SEEDED_WORKSPACE}) * ${0x01000193}) & ${0xffffffff};
    begin
      for i in 1..length(value) loop
        hash = ((hash # ascii(substr(value, i, 1))) * ${0x01000193}) & ${0xffffffff};
      end loop;
      -- The product of two 32-bit numbers needs more than a bigint.
      hash = mod((hash # (hash >> 16))::numeric * ${0x85ebca6b}, ${2 ** 32})::bigint;
      return (hash # (hash >> 13)) & 255;
    end
  $$`;

const BUCKET_FUNCTION = `
  create function bench_bucket(place int) returns smallint language sql immutable parallel safe as $$
    select ('{${BUCKETS.join()}}'::smallint[])[place + 1]
  $$`;

/** The id of a row with this number; its last byte is the bucket. */
const ID_FUNCTION = `
  create function bench_id(n bigint, place int) returns uuid language sql immutable parallel safe as $$
    select (lpad(to_hex(${FIRST_USER_AT} + n), 12, '0') || '7' || substr(md5(n::text), 1, 3)
      || '8' || substr(md5(n::text), 4, 13) || lpad(to_hex(place), 2, '0'))::uuid
  $$`;

/** The number of the user with profile `p`. */
const NUMBER = "substr(p.external_id, 6)::bigint";

/** The name of the k-th event of that user: one of `EVENT_NAMES`. */
const eventName = `'event_' || (${NUMBER} + k % ${NAMES_PER_USER} * 3) % ${EVENT_NAMES.length}`;

/** `emailOf`, in SQL. */
const EMAIL = "p.external_id || '@example.com'";

export interface Seed {
  readonly users: number;
  /** Whether the planner gets statistics before it begins, as it has on a server that runs longer. */
  readonly statistics: boolean;
  /** Whether the users have an email address: `emailOf`. */
  readonly addresses: boolean;
  readonly eventsPerUser?: number;
}

/** The statements that fill a migrated database, in their order. */
export const seedStatements = ({
  users,
  statistics,
  addresses,
  eventsPerUser = EVENTS_PER_USER,
}: Seed): readonly string[] => [
  PLACE_FUNCTION,
  BUCKET_FUNCTION,
  ID_FUNCTION,
  `insert into profiles (workspace_id, bucket, profile_id, version, external_id, aliases, email, phone,
     standard_attributes, custom_attributes, created_at, updated_at)
   select ${SEEDED_WORKSPACE}, bench_bucket(place), bench_id(n, place), 1, 'user-' || n, '[]',
     ${addresses ? "'user-' || n || '@example.com'" : "null"}, null,
     jsonb_build_object('first_name', 'First ' || n % 500, 'last_name', 'Last ' || n % 1000,
       'country', 'US', 'language', 'en', 'home_city', 'Town ' || n % 200),
     jsonb_build_object('plan', 'free', 'score', n % 1000, 'last_page', '/products/' || n % 5000,
       'tags', jsonb_build_array('one', 'two', 'three'), 'newsletter', true,
       'spent', (n % 10000) / 100.0),
     '2026-01-01', '2026-01-01'
   from (
     -- The offset keeps the place from being computed for each use.
     select n, bench_place('user-' || n) as place from generate_series(0, ${users - 1}) as n offset 0
   ) as numbered`,
  `insert into identifiers (workspace_id, bucket, value, kind, profile_id)
   select ${SEEDED_WORKSPACE}, p.bucket, p.external_id, 'external_id', p.profile_id from profiles p`,
  ...(addresses
    ? [
        `insert into identifiers (workspace_id, bucket, value, kind, profile_id)
         select ${SEEDED_WORKSPACE}, bench_bucket(bench_place(${EMAIL})), ${EMAIL}, 'email', p.profile_id
         from profiles p`,
      ]
    : []),
  `insert into events (workspace_id, bucket, profile_id, event_id, name, occurred_at, app_id, properties)
   select ${SEEDED_WORKSPACE}, p.bucket, p.profile_id, bench_id(${users} + ${NUMBER} * ${eventsPerUser} + k, 0),
     ${eventName}, '2026-01-01'::timestamptz - k * interval '1 day', null,
     '{"sku": "SKU-1", "price": 9.5, "channel": "web"}'
   from profiles p, generate_series(1, ${eventsPerUser}) as k`,
  `insert into event_summaries (workspace_id, bucket, profile_id, name, count, first_at, last_at)
   select ${SEEDED_WORKSPACE}, p.bucket, p.profile_id, ${eventName}, 1 + more,
     '2026-01-01'::timestamptz - (k + more * ${NAMES_PER_USER}) * interval '1 day',
     '2026-01-01'::timestamptz - k * interval '1 day'
   from profiles p, generate_series(1, ${Math.min(eventsPerUser, NAMES_PER_USER)}) as k,
     lateral (select (${eventsPerUser} - k) / ${NAMES_PER_USER} as more) as repeated`,
  `insert into link_keys (purpose, version, secret, created_at)
   values ('preference_center', 1, '${sealWith(sealingKeyOf(SECRET_KEY), LINK_SECRET, rowOf(1))}', '2026-01-01')`,
  "drop function bench_id, bench_bucket, bench_place",
  statistics ? "vacuum analyze" : "vacuum",
  "checkpoint",
];
