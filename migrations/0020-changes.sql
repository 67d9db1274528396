-- alongside the previous version: safe
--
-- The change feed. A workspace's changes are in 16 partitions, each at a bucket of its own; the head of a partition is
-- locked from the moment a transaction numbers its changes until it commits (docs/decisions/change-feed.md).

-- distributed by: bucket
create table change_heads (
  workspace_id integer not null,
  bucket smallint not null,
  -- The position of the last change.
  position bigint not null,
  -- Bytes of all changes so far, those that were deleted included.
  bytes bigint not null,
  primary key (workspace_id, bucket)
);

-- The changes that one transaction wrote to one partition.
-- distributed by: bucket
create table change_batches (
  workspace_id integer not null,
  bucket smallint not null,
  -- The position of the last change of the batch.
  position bigint not null,
  count integer not null,
  batch_id uuid not null,
  epoch integer not null,
  written_at timestamptz not null,
  -- As in the head, up to this batch.
  bytes bigint not null,
  -- 32 bits of the ids of the users that it names.
  people integer[] not null,
  -- A list in JSON; null in the place of a change that was erased.
  body text not null,
  primary key (workspace_id, bucket, position)
);

-- Users whose changes are not shown any more, until those are deleted.
-- distributed by: bucket
create table erased_people (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  erased_at timestamptz not null,
  primary key (workspace_id, bucket, profile_id)
);

-- Reading it decompresses nothing, and writing compresses nothing.
alter table change_batches alter column body set storage external;

-- How often the feed was turned on.
alter table workspaces add column feed_epoch integer not null default 0;

-- The state before the last change.
alter table email_states add column previous text;
