-- alongside the previous version: unsafe, because it compares addresses in lower case alone
--
-- Addresses are compared in one form (docs/decisions/addresses.md). SQL cannot compute it: the steps do, which
-- move only rows beyond ASCII or with punycode. For 1,000,000 users in ASCII it takes seconds.

-- What remains of migrations that need the program: see src/database/migrations/steps.ts.
create table migration_steps (
  name text primary key,
  -- Where the step continues.
  position jsonb,
  -- Counts of what it did.
  report jsonb not null,
  finished_at timestamptz
);

-- An empty database has nothing to move.
insert into migration_steps (name, report)
select name, '{}' from unnest(array['addresses', 'user names']) as steps (name)
where exists (select from workspaces);

-- The address as it was first written, where it is beyond ASCII or has punycode.
alter table email_states add column spelling text;

alter table hard_bounces add column spelling text;

alter table email_state_changes add column spelling text;

-- Spellings that were addresses of their own and that the step made one address with another one: an administrator
-- can look through them.
-- distributed by: bucket
create table joined_spellings (
  workspace_id integer not null,
  bucket smallint not null,
  -- The form.
  email text not null,
  spelling text not null,
  -- The email state of this spelling, of the others, and of the address since; null if it had none.
  state text,
  other_state text,
  kept_state text,
  primary key (email, workspace_id, bucket, spelling)
);

create index joined_spellings_by_workspace on joined_spellings (workspace_id, email, spelling);
