-- alongside the previous version: safe
--
-- How many bytes the warehouse says that a run has scanned; null where it does not say.

alter table sync_runs add column bytes_scanned bigint;
