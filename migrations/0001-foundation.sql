-- Workspaces and what belongs to them. "declared" rows come from a manifest: they are removed when
-- the manifest no longer has them; the others were made through the admin API.

create table companies (
  company_id uuid primary key,
  name text not null,
  created_at timestamptz not null
);

create table workspaces (
  -- Small, because every row and every index entry of the large tables begins with it.
  workspace_id integer primary key,
  company_id uuid not null,
  name text not null unique,
  allow_reset boolean not null,
  settings jsonb not null,
  created_at timestamptz not null
);

create table api_keys (
  key_id uuid primary key,
  workspace_id integer not null,
  name text not null,
  key_hash text not null unique,
  permissions text[] not null,
  ip_allowlist text[] not null,
  declared boolean not null,
  created_at timestamptz not null,
  unique (workspace_id, name)
);

create table apps (
  workspace_id integer not null,
  app_id text not null,
  name text not null,
  platform text not null,
  declared boolean not null,
  primary key (workspace_id, app_id)
);

create table subscription_groups (
  workspace_id integer not null,
  group_id text not null,
  name text not null,
  channel text not null,
  declared boolean not null,
  primary key (workspace_id, group_id)
);

-- The keys of the large tables begin with what statements look up, not with the workspace: without
-- statistics the planner would take the workspace for selective enough and read all of it.

-- People. A profile is found through its identifiers; the profile row holds the same identifiers,
-- so that what belongs to a person can be removed by key.

create type identifier_kind as enum ('external_id', 'alias', 'email', 'phone');

-- distributed by: value
create table identifiers (
  workspace_id integer not null,
  -- As it is looked up: addresses in lower case, phone numbers in E.164, aliases with their label.
  value text not null,
  kind identifier_kind not null,
  profile_id uuid not null,
  primary key (value, workspace_id, kind, profile_id)
);

-- These name one person; an address may be shared.
create unique index identifiers_of_one on identifiers (value, workspace_id, kind)
  where kind in ('external_id', 'alias');

-- distributed by: profile_id
create table profiles (
  workspace_id integer not null,
  profile_id uuid not null,
  -- Grows with every write to the row: an update made from an older reading finds nothing.
  version bigint not null,
  external_id text,
  aliases jsonb not null,
  email text,
  phone text,
  standard_attributes jsonb not null,
  custom_attributes jsonb not null,
  created_at timestamptz not null,
  -- Any write to the person: attribute, event, purchase, subscription (design: most recently updated).
  updated_at timestamptz not null,
  primary key (profile_id, workspace_id)
) with (fillfactor = 70);

-- distributed by: profile_id
create table events (
  workspace_id integer not null,
  profile_id uuid not null,
  event_id uuid not null,
  name text not null,
  occurred_at timestamptz not null,
  app_id text,
  properties jsonb,
  primary key (profile_id, workspace_id, event_id)
);

-- distributed by: profile_id
create table event_summaries (
  workspace_id integer not null,
  profile_id uuid not null,
  name text not null,
  count bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (profile_id, workspace_id, name)
) with (fillfactor = 70);

-- distributed by: profile_id
create table purchases (
  workspace_id integer not null,
  profile_id uuid not null,
  purchase_id uuid not null,
  product_id text not null,
  currency text not null,
  price numeric not null,
  quantity integer not null,
  occurred_at timestamptz not null,
  app_id text,
  properties jsonb,
  primary key (profile_id, workspace_id, purchase_id)
);

-- distributed by: profile_id
create table purchase_summaries (
  workspace_id integer not null,
  profile_id uuid not null,
  product_id text not null,
  -- Money is summed per currency and never converted.
  currency text not null,
  count bigint not null,
  revenue numeric not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (profile_id, workspace_id, product_id, currency)
) with (fillfactor = 70);

-- distributed by: profile_id
create table group_states (
  workspace_id integer not null,
  profile_id uuid not null,
  group_id text not null,
  state text not null,
  changed_at timestamptz not null,
  primary key (profile_id, workspace_id, group_id)
);

-- By address: holds for whoever has the address now or gets it later.
-- distributed by: email
create table email_states (
  workspace_id integer not null,
  email text not null,
  state text not null,
  changed_at timestamptz not null,
  primary key (email, workspace_id)
);

-- distributed by: key
create table idempotency_keys (
  workspace_id integer not null,
  key text not null,
  fingerprint text not null,
  status integer not null,
  body jsonb not null,
  created_at timestamptz not null,
  primary key (key, workspace_id)
);

create index idempotency_keys_by_age on idempotency_keys (created_at);
