-- alongside the previous version: safe
--
-- The server processes that run on this database, each with the keys that it can open secrets with. A process that has
-- not been seen for a minute has ended.

create table running_servers (
  server_id uuid primary key,
  name text not null,
  version text not null,
  key_ids jsonb not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
