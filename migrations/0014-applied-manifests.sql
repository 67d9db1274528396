-- alongside the previous version: safe
--
-- Which manifests were applied, each once: a server that starts with one that was replaced since does not apply it.
-- scope names the workspaces that a manifest declares, and "company" where it declares more of it than a name.

create table applied_manifests (
  hash text primary key,
  number bigint not null unique,
  version bigint,
  scope jsonb not null,
  source text not null,
  server text not null,
  applied_at timestamptz not null
);
