-- alongside the previous version: safe

-- One mail an hour for each thing: when the last one was sent, or the next one waits for. Rows older than that are removed.
create table mail_times (
  workspace_id integer not null,
  kind text not null,
  subject text not null,
  mailed_at timestamptz not null,
  primary key (workspace_id, kind, subject)
);

-- The domains whose addresses a role of a workspace may name as contacts, in ASCII and lower case.
alter table companies add column mail_domains text[] not null default '{}';
