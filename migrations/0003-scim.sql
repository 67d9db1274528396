-- Who may use the dashboard, kept by a company's identity provider over SCIM.

create table scim_tokens (
  token_id uuid primary key,
  company_id uuid not null,
  name text not null,
  token_hash text not null unique,
  service_origin text not null,
  require_origin boolean not null,
  declared boolean not null,
  created_at timestamptz not null,
  unique (company_id, name)
);

-- What the permissions of a dashboard user name, besides the workspaces.

create table teams (
  workspace_id integer not null,
  team_id text not null,
  name text not null,
  primary key (workspace_id, name),
  unique (workspace_id, team_id)
);

create table permission_sets (
  company_id uuid not null,
  name text not null,
  permissions jsonb not null,
  primary key (company_id, name)
);

-- What a user gets where the identity provider cannot say it.
create table scim_defaults (
  company_id uuid primary key,
  defaults jsonb not null
);

create table dashboard_users (
  company_id uuid not null,
  -- In the order of creation, which is the order of a list.
  user_id uuid not null,
  -- In lower case: an address names one user whatever its case.
  user_name_key text not null,
  external_id text,
  -- The attributes as they were given, in their order, names in the place of ids.
  attributes json not null,
  -- The same with all text that is compared without case in lower case, for filters.
  searchable jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_sign_in_at timestamptz,
  -- As everywhere, keys begin with what is looked up; a list goes along the first.
  primary key (user_id, company_id),
  unique (user_name_key, company_id)
);

create index dashboard_users_by_external_id on dashboard_users (external_id, company_id);
