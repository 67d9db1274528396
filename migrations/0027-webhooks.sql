-- alongside the previous version: safe
--
-- Webhooks deliver the change feed: what is declared, how far each partition was delivered, and what became of it.

-- Whether the workspace has a webhook, which turns its change feed on.
alter table workspaces add column has_webhooks boolean not null default false;

create table webhooks (
  workspace_id integer not null,
  webhook_id text not null,
  name text not null,
  url text not null,
  -- The types of changes that are delivered; all if it is empty.
  types text[] not null,
  contact_emails text[] not null,
  -- As declared: active or paused.
  state text not null,
  -- Sealed.
  secret text not null,
  previous_secret text,
  previous_until timestamptz,
  -- Why deliveries stopped by themselves; null if they did not.
  paused_reason text,
  declared boolean not null,
  -- When it was last changed, by which servers notice.
  changed_at timestamptz not null,
  primary key (workspace_id, webhook_id)
);

-- How far a webhook is in each partition of the feed. A replay has rows of its own until it is done.
create table webhook_positions (
  workspace_id integer not null,
  webhook_id text not null,
  is_replay boolean not null,
  -- The bucket of the partition in the feed.
  partition smallint not null,
  -- The last change that is done with.
  position bigint not null,
  -- Where a replay ends.
  ends_at bigint,
  -- The batch that is under way: its id and its last change. Stored before it is sent, so that its id stays the same.
  batch_id text,
  batch_until bigint,
  -- How often the batch has failed, and since when the partition fails.
  attempts integer not null default 0,
  failing_since timestamptz,
  -- When to try again.
  due_at timestamptz,
  -- While a refused change is looked for: how many changes to send at most, up to which position.
  at_most integer,
  narrowed_until bigint,
  -- When the oldest change that is to be delivered was written; null if there is none.
  behind_since timestamptz,
  -- The server process that has it.
  holder uuid,
  leased_until timestamptz,
  primary key (workspace_id, webhook_id, is_replay, partition)
);

-- The latest attempts of each webhook.
create table webhook_deliveries (
  workspace_id integer not null,
  webhook_id text not null,
  delivery_id uuid not null,
  -- The header webhook-id.
  message_id text not null,
  -- live, replay, dead_letter or test.
  kind text not null,
  changes integer not null,
  first_change_id text,
  attempt integer not null,
  at timestamptz not null,
  duration_ms integer not null,
  -- delivered, failed, refused, gone or missed.
  outcome text not null,
  status integer,
  -- The beginning of the response.
  response text,
  error text,
  next_attempt_at timestamptz,
  primary key (workspace_id, webhook_id, delivery_id)
);

-- Changes that a receiver refused. They stay in the feed, so erasing a person erases them there.
create table webhook_dead_letters (
  workspace_id integer not null,
  webhook_id text not null,
  dead_letter_id uuid not null,
  message_id text not null,
  partition smallint not null,
  position bigint not null,
  change_id text not null,
  type text not null,
  status integer,
  at timestamptz not null,
  primary key (workspace_id, webhook_id, dead_letter_id)
);
