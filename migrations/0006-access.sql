-- Secrets that are rotated and revoked, who changed what, and limits that several processes share.

-- What opens an API key. After a rotation the older secret opens it too, until it expires. One that
-- has expired stays here, so that it never opens anything again.
create table secrets (
  secret_hash text primary key,
  owner_id uuid not null,
  created_at timestamptz not null,
  -- Null: until it is rotated or revoked.
  expires_at timestamptz
);

create index secrets_by_owner on secrets (owner_id);

insert into secrets (secret_hash, owner_id, created_at)
  select key_hash, key_id, created_at from api_keys;

alter table api_keys
  add column last_seen_at timestamptz,
  add column revoked_at timestamptz,
  -- What a manifest said last, as hashes: while it says the same, a rotation or a revocation stands.
  add column declared_secrets jsonb;

update api_keys
  set declared_secrets = jsonb_build_array(jsonb_build_object('hash', key_hash, 'until', null))
  where declared;

alter table api_keys drop column key_hash;

-- Every change to what is declared or administered; only ever appended to.
create table audit_entries (
  -- In the order of time.
  entry_id uuid primary key,
  at timestamptz not null,
  -- Null: it concerns the company.
  workspace text,
  action text not null,
  kind text not null,
  name text not null,
  details jsonb,
  -- Who: the administrator, the holder of a key or a token with its name, or the server itself.
  actor text not null,
  actor_name text,
  -- From where.
  call text,
  request_id text,
  address text
);

create index audit_entries_by_workspace on audit_entries (workspace, entry_id);

-- How much of a limit's window is given out, to all server processes together. A crash may forget
-- it: the window is short.
create unlogged table rate_limit_windows (
  name text primary key,
  ends_at timestamptz not null,
  given bigint not null,
  -- What the last request to this row got.
  last_grant bigint not null
) with (fillfactor = 50);
