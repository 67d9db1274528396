-- Pages on which people choose what they receive. "declared" rows come from a manifest, the others were
-- made through the API, or with their workspace.

create table preference_centers (
  workspace_id integer not null,
  center_id text not null,
  name text not null,
  title text not null,
  state text not null,
  page_html text not null,
  confirmation_html text not null,
  -- Where a browser goes instead of to the confirmation page.
  redirect_url text,
  options jsonb not null,
  -- The language that the pages are written in; the texts in others by locale and id.
  locale text not null,
  translations jsonb not null,
  declared boolean not null,
  -- Another one after every change, so that a page which was parsed before is not served after it.
  revision uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, center_id)
);

create unique index preference_centers_by_name on preference_centers (workspace_id, name);

-- What links to pages are signed with: made once, when the first link is.
create table link_keys (
  purpose text primary key,
  secret text not null,
  created_at timestamptz not null
);
