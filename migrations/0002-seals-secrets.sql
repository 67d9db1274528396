-- alongside the previous version: unsafe, because it cannot read the secrets that this version seals
--
-- Secrets that have to be read again (integrations.warehouse, link_keys.secret) are sealed with a key that
-- the database never holds. The check value tells which key, and opens only with it.

create table sealing_keys (
  name text primary key,
  check_value text not null
);
