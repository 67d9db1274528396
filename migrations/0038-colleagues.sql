-- alongside the previous version: safe
--
-- Signing in without an identity provider: invitations, passwords and passkeys. Links and passwords are stored as hashes only. No row
-- of a table is rewritten, so it takes no longer with 1,000,000 users. A server of the previous version follows an invitation without
-- looking at its maker, and knows no passwords.

alter table sign_in_links
  -- Whether it signs a colleague in; otherwise its maker.
  add column is_invitation boolean not null default false,
  -- The dashboard user who made an invitation; null: the administrator.
  add column made_by uuid,
  -- Of the admin token: what the administrator made ends when the token changes.
  add column admin_print text;

create index sign_in_links_by_user on sign_in_links (user_id);

alter table dashboard_sessions
  -- How the person signed in; null in sessions of earlier versions.
  add column way text,
  add column address text,
  -- Such as: Firefox on Windows.
  add column browser text;

create table dashboard_passwords (
  user_id uuid primary key,
  -- scrypt, with its cost and its salt
  hash text not null,
  set_at timestamptz not null
);

create table dashboard_passkeys (
  -- As the authenticator names it, in base64url.
  passkey_id text primary key,
  user_id uuid not null,
  name text not null,
  public_key text not null,
  -- How often it has signed, as it says; synchronized ones always say 0.
  counter bigint not null,
  transports jsonb not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);

create index dashboard_passkeys_by_user on dashboard_passkeys (user_id);

-- Challenges that a passkey has answered: each is accepted once.
create table answered_challenges (
  challenge_hash text primary key,
  expires_at timestamptz not null
);

-- Whether people may sign in without the identity provider that is set up.
create table sign_in_settings (
  company_id uuid primary key,
  local boolean not null
);

-- Finds the entries of a thing, which name it beside its id. About three seconds with 1,000,000 entries.
create index audit_entries_by_name on audit_entries (name, entry_id);
