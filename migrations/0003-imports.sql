-- alongside the previous version: safe

-- How far `rapport import` is with each file. Committed with the rows, so that an import that was killed
-- continues after exactly the rows that are stored, and a batch that is sent again is recognized.
create table imports (
  workspace_id integer not null,
  -- A fingerprint of the file and of how it is read.
  import_id text not null,
  -- users, events, purchases or subscriptions
  kind text not null,
  -- How many rows of the file were judged, and how many of them were written.
  rows_done bigint not null,
  rows_imported bigint not null,
  started_at timestamptz not null,
  updated_at timestamptz not null,
  -- The first row of the last batch, and the verdicts on its rows, for a client that never received them.
  last_first_row bigint not null,
  last_notes jsonb not null,
  primary key (workspace_id, import_id)
);

create index imports_by_age on imports (updated_at);
