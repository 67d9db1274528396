-- alongside the previous version: safe
--
-- The names of custom attributes and events that a workspace has used, for its quotas
-- (docs/decisions/quotas.md). Written once for each new name.

create table used_names (
  workspace_id integer not null,
  -- attribute or event
  kind text not null,
  name text not null,
  primary key (workspace_id, kind, name)
);
