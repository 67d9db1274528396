-- alongside the previous version: safe

-- How many users a count is expected to look at, for its progress.
alter table segment_counts add column expected bigint not null default 0;
