-- Campaigns and canvases hold messages; a message can be translated into the locales of its workspace.
-- "declared" rows come from a manifest, the others were made through the admin API or by a PUT.

create table locales (
  workspace_id integer not null,
  locale_id uuid not null,
  name text not null,
  country text not null,
  language text not null,
  locale_key text not null,
  declared boolean not null,
  primary key (workspace_id, locale_id)
);

-- Files name a locale by its key, and tools change its case and its separator.
create unique index locales_by_key on locales (workspace_id, lower(replace(locale_key, '_', '-')));

-- A campaign or a canvas: what messages belong to.
create table engagements (
  workspace_id integer not null,
  kind text not null,
  engagement_id uuid not null,
  name text not null,
  -- The steps of a canvas in their order; a campaign has none.
  step_ids uuid[] not null,
  declared boolean not null,
  primary key (workspace_id, kind, engagement_id)
);

create table messages (
  workspace_id integer not null,
  message_id uuid not null,
  kind text not null,
  engagement_id uuid not null,
  -- Null in a campaign.
  step_id uuid,
  channel text not null,
  multi_language boolean not null,
  -- What it is written in: texts with translation tags by name (subject, body), where it was given so.
  content jsonb,
  -- The strings of the content by id, in the language they were written in.
  source jsonb not null,
  declared boolean not null,
  updated_at timestamptz not null,
  primary key (message_id, workspace_id)
);

create index messages_of_engagement on messages (workspace_id, kind, engagement_id);

-- One row holds all strings of a message in one locale, because they are read and written together.
-- json, not jsonb: nobody looks inside, and reading 40 maps of 500 strings takes 4 ms instead of 8.
create table message_translations (
  workspace_id integer not null,
  message_id uuid not null,
  locale_id uuid not null,
  translation_map json not null,
  -- Of the map as compact JSON in UTF-8: all locales of a message together have a limit.
  byte_length integer not null,
  declared boolean not null,
  primary key (message_id, workspace_id, locale_id)
);
