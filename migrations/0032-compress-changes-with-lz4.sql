-- alongside the previous version: safe
--
-- The changes of a transaction are texts of several kilobytes. lz4 compresses them in a quarter of the time of PostgreSQL's
-- own method, and as well. Not every PostgreSQL has it; the embedded engine does not.

do $$ begin alter table change_batches alter column body set compression lz4; exception when feature_not_supported then null; end $$;
