-- alongside the previous version: unsafe, because it looks for the key that seals in sealing_keys
--
-- What all servers on a database must agree on, by a value that proves it: the hash of a token, or a text that opens
-- only with the key that seals secrets. kept_on names the server that generated the secret and keeps it; it is null
-- where every server has the secret in its settings.

alter table shared_secrets rename column secret_hash to check_value;

alter table shared_secrets rename column made_on to kept_on;

alter table shared_secrets alter column kept_on drop not null;

alter table shared_secrets alter column created_at set default now();

insert into shared_secrets (name, check_value, kept_on)
  select 'secret-key', check_value, kept_on from sealing_keys where name = 'secrets';

drop table sealing_keys;
