-- alongside the previous version: safe
--
-- How many profiles were merged or deleted while several processes wrote, and the latest of them, oldest first: other
-- processes drop them from their caches.

create table removed_profiles (
  workspace_id integer primary key,
  removals bigint not null,
  latest uuid[] not null
);
