-- alongside the previous version: safe
--
-- A job that fails by its own fault, five times in the same way, ends as failed. These take no time, whatever the number of
-- users: no row is rewritten.

-- How the last runs failed, as a sentence, and how often in a row.
alter table jobs add column fault text;
alter table jobs add column faults integer not null default 0;

-- Why an exact count ended as failed.
alter table segment_counts add column failure text;
