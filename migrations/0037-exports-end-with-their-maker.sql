-- alongside the previous version: safe
--
-- The links and files of an export end with the API key that asked for it: the hash of its secret, and the address that the
-- call came from. Exports of an earlier version have neither, and end after their hours. No table is rewritten.

alter table segment_exports
  add column maker_hash text,
  add column maker_address text,
  add column downloads integer not null default 0,
  add column is_announced boolean not null default false;

-- Responses with links are stored masked from now on; those of an earlier version hold them in full.
update live_requests set response = null
where route in ('/users/export/segment', '/preference_center/v1/:preference_center_id/url/:user_id');
