-- alongside the previous version: safe

-- Who did each event last: up to 20 times and users, the newest first, as [time, profile_id]. Written with the counts of the
-- catalogue; a previous version leaves it as it is.
create table latest_occurrences (
  workspace_id integer not null,
  name text collate "C" not null,
  latest jsonb not null,
  primary key (workspace_id, name)
);
