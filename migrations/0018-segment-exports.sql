-- alongside the previous version: safe

-- Exports of segments: what each link opens. The users are read when the link is opened.
create table segment_exports (
  workspace_id integer not null,
  export_id uuid primary key,
  segment_id uuid not null,
  filter jsonb not null,
  fields text[] not null,
  format text not null,
  prefix text not null,
  callback_url text,
  base_url text not null,
  token_hashes text[] not null,
  -- Whether its callback was not called yet.
  is_running boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create index segment_exports_by_token on segment_exports using gin (token_hashes);
