-- alongside the previous version: safe
--
-- Public calls that Rapport does not serve, kept for the tests of an application (docs/ci.md).

-- How many calls and bytes a workspace has captured so far. Locked by whoever captures the next, so that
-- calls are numbered in the order of their commits.
create table capture_heads (
  workspace_id integer not null,
  calls bigint not null,
  bytes bigint not null,
  primary key (workspace_id)
);

create table captured_calls (
  workspace_id integer not null,
  -- The number of the call in its workspace, from 1.
  position bigint not null,
  captured_at timestamptz not null,
  method text not null,
  path text not null,
  -- JSON as text: what came in is shown with its members in their order.
  query text not null,
  body text,
  status integer not null,
  response text not null,
  key_name text,
  request_id text not null,
  bytes bigint not null,
  -- The bytes of all calls before it, also of those that are gone.
  bytes_before bigint not null,
  primary key (workspace_id, position)
);

create index captured_calls_by_bytes on captured_calls (workspace_id, bytes_before);
create index captured_calls_by_age on captured_calls (captured_at);
