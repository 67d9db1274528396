-- alongside the previous version: safe
--
-- Secrets that the first server on a database creates for all of them: the admin token and the key of the
-- demo workspace. Only their hashes are stored; where each was printed and is kept says made_on.

create table shared_secrets (
  name text primary key,
  secret_hash text not null,
  made_on text not null,
  created_at timestamptz not null
);

-- Which server keeps the key; null where every server has it as SECRET_KEY.
alter table sealing_keys add column kept_on text;
