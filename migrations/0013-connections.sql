-- alongside the previous version: safe
--
-- How the company's warehouses are reached, and which workspaces may read through them.

create table connections (
  company_id uuid not null,
  name text not null,
  type text not null,
  workspaces text[] not null,
  settings jsonb not null,
  -- The secret settings as JSON, sealed; null where the type has none.
  sealed text,
  declared boolean not null,
  primary key (company_id, name)
);
