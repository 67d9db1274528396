-- alongside the previous version: safe
--
-- The zone of a schedule, an IANA name. No table is rewritten: less than a second, whatever the number of users. A server of the
-- previous version plans the next run of a sync in UTC; the run after it is in the zone again.

alter table integrations add column schedule_time_zone text not null default 'UTC';
alter table schedules add column time_zone text not null default 'UTC';
