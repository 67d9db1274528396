-- alongside the previous version: safe

-- A sample of users is read in the order of the part of their ids that chance drew.
create index profiles_by_chance on profiles (workspace_id, (right(profile_id::text, 8) collate "C"));

create table segments (
  workspace_id integer not null,
  segment_id uuid not null,
  name text not null,
  description text not null,
  tags text[] not null,
  filter jsonb not null,
  declared boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, segment_id),
  unique (workspace_id, name)
);

-- One estimate a day.
create table segment_sizes (
  workspace_id integer not null,
  segment_id uuid not null,
  day date not null,
  size bigint not null,
  primary key (workspace_id, segment_id, day)
);

-- Exact counts, as far as they have come.
create table segment_counts (
  workspace_id integer not null,
  count_id uuid not null,
  segment_id uuid,
  filter jsonb not null,
  status text not null,
  after uuid not null,
  total bigint not null,
  matching bigint not null,
  started_at timestamptz not null,
  finished_at timestamptz,
  primary key (workspace_id, count_id)
);

create index segment_counts_by_segment on segment_counts (workspace_id, segment_id, finished_at);
