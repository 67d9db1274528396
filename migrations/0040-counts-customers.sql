-- alongside the previous version: safe

-- What a workspace's customers did, by day (src/features/customers). Rows with an empty `part` come from the last recount of
-- all users; those with a `part` were counted since the cut that it names.
create table customer_counts (
  workspace_id integer not null,
  -- Days since 1970-01-01 in the zone of the workspace; 0 for what stands at present, such as subscribers.
  day integer not null,
  kind text not null,
  name text collate "C" not null,
  part text collate "C" not null,
  seen bigint not null,
  -- Of revenue: in the currency's base unit.
  amount numeric not null,
  primary key (workspace_id, kind, day, name, part)
);

-- Sketches of the users who did something on a day, in base64.
create table customer_days (
  workspace_id integer not null,
  day integer not null,
  part text collate "C" not null,
  sketch text not null,
  primary key (workspace_id, day, part)
);

-- How many users were active in the days that end with a day.
create table customer_activity (
  workspace_id integer not null,
  day integer not null,
  in_1 integer not null,
  in_7 integer not null,
  in_30 integer not null,
  -- Of the writes of the workspace: a slower writer does not replace a newer number.
  revision bigint not null,
  primary key (workspace_id, day)
);

create table customer_recounts (
  workspace_id integer primary key,
  -- The first 8 digits of the ids of what is received from then on: the next recount counts all before it.
  cut text collate "C" not null,
  -- The cut of the last recount; empty before the first.
  counted text collate "C" not null,
  time_zone text not null,
  -- Changes of subscriptions are counted up to this time.
  changes_until timestamptz not null,
  revision bigint not null
);
