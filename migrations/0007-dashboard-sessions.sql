-- alongside the previous version: safe
--
-- Who is signed in to the dashboard, and links that sign in once. Secrets are stored as hashes only.

create table dashboard_sessions (
  session_hash text primary key,
  -- Null: the administrator, who signed in with the admin token or a one-time link.
  user_id uuid,
  -- Of the admin token: a session of the administrator ends when the token changes.
  admin_print text,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  expires_at timestamptz not null
);

create index dashboard_sessions_by_user on dashboard_sessions (user_id);

create table sign_in_links (
  link_hash text primary key,
  expires_at timestamptz not null
);
