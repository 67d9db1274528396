-- alongside the previous version: safe
--
-- Workspaces can be deleted. Their ids are not used again, because servers may have requests of a deleted workspace under
-- way, and caches with its id.

create table deleted_workspaces (
  workspace_id integer primary key,
  deleted_at timestamptz not null,
  -- When rows that were written during the deletion were removed; null if they were not yet.
  swept_at timestamptz
);
