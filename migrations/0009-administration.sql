-- SCIM tokens that are rotated and revoked as API keys are: what opens them are their secrets. A token
-- with the very value of an API key does not open anything any more; it needs a value of its own.

insert into secrets (secret_hash, owner_id, created_at)
  select token_hash, token_id, created_at from scim_tokens
  on conflict do nothing;

alter table scim_tokens
  add column last_seen_at timestamptz,
  add column revoked_at timestamptz,
  add column declared_secrets jsonb;

update scim_tokens
  set declared_secrets = jsonb_build_array(jsonb_build_object('hash', token_hash, 'until', null))
  where declared;

alter table scim_tokens drop column token_hash;

-- Teams and permission sets that are made one at a time, and not by a manifest. All there were came
-- from one.
alter table teams add column declared boolean not null default true;
alter table teams alter column declared drop default;
alter table permission_sets add column declared boolean not null default true;
alter table permission_sets alter column declared drop default;
