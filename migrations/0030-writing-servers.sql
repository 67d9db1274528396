-- alongside the previous version: safe
--
-- When a server process last wrote users. Each shares the people out to fewer transactions while others write too.

alter table running_servers add column wrote_at timestamptz;
