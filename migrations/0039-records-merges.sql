-- alongside the previous version: safe
--
-- What the undo of a merge needs (docs/decisions/undo.md). No table is rewritten: seconds with 1,000,000 users. Servers of the
-- previous version record nothing; their merges cannot be undone, nor those whose users they merge again.

-- The merged user that a row came with; null if it is the user's own. A row keeps it through further merges.
alter table events add column origin_id uuid;
alter table purchases add column origin_id uuid;
alter table message_history add column origin_id uuid;
alter table group_state_changes add column origin_id uuid;

-- Whether a merge was recorded, and when it was undone.
alter table identity_audit
  add column recorded boolean,
  add column undone_at timestamptz;

-- The states of both users before a merge, for as long as it can be undone.
-- distributed by: bucket
create table merge_records (
  workspace_id integer not null,
  -- Of the kept user, as in identity_audit.
  bucket smallint not null,
  -- The audit_id.
  merge_id uuid not null,
  -- 0: the record; -1: a part of it that was known later. Others are messages of the merged user that the kept user had too.
  piece integer not null,
  -- Why it is empty: deleted or erased, as the kept user was.
  ended text,
  -- JSON.
  body text,
  primary key (merge_id, workspace_id, bucket, piece)
);

-- Not every engine has it. Its own method takes four times as long.
do $$ begin alter table merge_records alter column body set compression lz4; exception when feature_not_supported then null; end $$;
