-- alongside the previous version: safe

-- Exports of segments that are written into a bucket: where, and how far they have come.
alter table segment_exports
  add column written_to jsonb,
  add column after uuid not null default '00000000-0000-0000-0000-000000000000',
  add column files integer not null default 0,
  add column users bigint not null default 0,
  -- Why it failed; null if it did not.
  add column failure text;
