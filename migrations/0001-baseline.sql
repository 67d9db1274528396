-- alongside the previous version: safe
--
-- The whole schema as of the first release. Change it only with a new file: see README.md.
--
-- Rows with `declared` come from a manifest and are removed when the manifest drops them; all others
-- were created through the API.
--
-- Keys of large tables lead with the column that statements look up, not with the workspace. Without
-- statistics the planner considers `workspace_id = 1` selective and reads the whole workspace
-- (docs/decisions/keys-lead-with-what-is-looked-up.md).
--
-- On Citus, a table marked `distributed by` is distributed by that column (src/database/migrate.ts). All
-- of them are distributed by the bucket and lie side by side (docs/decisions/buckets.md): the bucket of
-- the profile, or of the value that the row is looked up by.

-- Buckets --------------------------------------------------------------------------------------------

-- One row for each bucket. Writes select their rows through this table, which is how a Citus sends each
-- row to the node of its bucket. The numbers are those of src/database/buckets.ts: their hashes divide the
-- hash space evenly, so every shard has as many buckets as any other.
-- distributed by: bucket
create table buckets (
  bucket smallint primary key,
  -- The last byte of the ids of profiles in this bucket.
  ordinal smallint not null
);

insert into buckets (bucket, ordinal)
select bucket, place - 1 from unnest(array[
    17726, 23568, 29507, 2826, 2923, 4159, 15765, 19209, 414, 31354, 15564, 10457, 25846, 5601,
    22032, 29612, 21070, 9110, 30080, 15794, 16847, 6868, 11127, 21584, 15616, 12301, 23260,
    11781, 25321, 18705, 3466, 24224, 12129, 8211, 31986, 16828, 15555, 17707, 26936, 10337,
    7223, 19103, 30674, 13433, 21099, 9339, 29653, 14994, 12181, 32597, 29884, 16653, 24427,
    1644, 17001, 15847, 12069, 19600, 24843, 4188, 11599, 22621, 1515, 23427, 20588, 26761,
    26121, 15681, 2376, 10784, 17629, 29802, 31450, 25549, 19999, 22038, 8465, 11455, 11332,
    5422, 16172, 32174, 27450, 17350, 2477, 6175, 10424, 29281, 13637, 28365, 24595, 28854,
    8568, 22428, 31539, 2308, 5328, 9360, 23987, 2479, 17789, 14342, 18967, 13986, 5496, 3478,
    27757, 2953, 5368, 4713, 8499, 21887, 2569, 14898, 13132, 21651, 15156, 10896, 1366, 5080,
    10537, 32633, 18366, 5178, 30991, 24795, 13368, 4232, 6436, 32691, 19318, 14864, 29724,
    3439, 23802, 13697, 1806, 15728, 2699, 8897, 23030, 3230, 15567, 16205, 27233, 18411, 17560,
    3731, 23729, 7465, 17791, 16605, 20232, 9822, 3564, 20495, 7279, 12363, 4177, 13412, 1728,
    122, 4025, 31268, 4297, 26853, 22800, 6198, 7873, 29575, 15281, 30457, 25148, 26178, 31111,
    32350, 31511, 10034, 25401, 30560, 5692, 15727, 2329, 21959, 24434, 683, 14636, 6939, 15662,
    24045, 23544, 19705, 13084, 9028, 14842, 11133, 17238, 13453, 26605, 351, 7688, 14924, 199,
    27435, 24849, 27274, 22418, 30726, 21884, 2125, 2952, 25707, 18285, 4322, 11934, 2191,
    21267, 26953, 13258, 17247, 18818, 27671, 29059, 17954, 27972, 30480, 29313, 22833, 20978,
    11535, 3349, 17470, 8521, 8924, 11328, 22817, 4475, 24907, 22346, 4407, 2658, 17274, 27221,
    2284, 4020, 2127, 5008, 18721, 28668, 10810, 15147, 22508, 17545, 20275, 25985, 21686
  ]::smallint[]) with ordinality as numbers (bucket, place);

-- Workspaces -----------------------------------------------------------------------------------------

create table companies (
  company_id uuid primary key,
  name text not null,
  created_at timestamptz not null
);

create table workspaces (
  -- An integer, because every row and index entry of the large tables contains it.
  workspace_id integer primary key,
  company_id uuid not null,
  name text not null unique,
  allow_reset boolean not null,
  settings jsonb not null,
  created_at timestamptz not null
);

create table apps (
  workspace_id integer not null,
  app_id text not null,
  name text not null,
  platform text not null,
  declared boolean not null,
  primary key (workspace_id, app_id)
);

create table teams (
  workspace_id integer not null,
  team_id text not null,
  name text not null,
  declared boolean not null,
  primary key (workspace_id, name),
  unique (workspace_id, team_id)
);

-- Access ---------------------------------------------------------------------------------------------

create table api_keys (
  key_id uuid primary key,
  workspace_id integer not null,
  name text not null,
  permissions text[] not null,
  ip_allowlist text[] not null,
  declared boolean not null,
  created_at timestamptz not null,
  last_seen_at timestamptz,
  revoked_at timestamptz,
  -- The hashes of the last manifest. While they stay the same, a rotation or revocation made through
  -- the API stands.
  declared_secrets jsonb,
  unique (workspace_id, name)
);

create table scim_tokens (
  token_id uuid primary key,
  company_id uuid not null,
  name text not null,
  service_origin text not null,
  require_origin boolean not null,
  declared boolean not null,
  created_at timestamptz not null,
  last_seen_at timestamptz,
  revoked_at timestamptz,
  declared_secrets jsonb,
  unique (company_id, name)
);

-- Hashes of the secrets of API keys and SCIM tokens. After a rotation the old secret works until it
-- expires. Expired rows stay, so that a secret is never accepted again.
create table secrets (
  secret_hash text primary key,
  owner_id uuid not null,
  created_at timestamptz not null,
  -- Null: valid until it is rotated or revoked.
  expires_at timestamptz
);

create index secrets_by_owner on secrets (owner_id);

-- How much of a rate limit's window all server processes have used together. Windows are short, so
-- losing them in a crash is acceptable.
create unlogged table rate_limit_windows (
  name text primary key,
  ends_at timestamptz not null,
  given bigint not null,
  -- How much the most recent request to this row received.
  last_grant bigint not null
) with (fillfactor = 50);

-- distributed by: bucket
create table idempotency_keys (
  workspace_id integer not null,
  bucket smallint not null,
  key text not null,
  fingerprint text not null,
  status integer not null,
  body jsonb not null,
  created_at timestamptz not null,
  primary key (key, workspace_id, bucket)
);

create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Audit ----------------------------------------------------------------------------------------------

-- Every change to declared or administered resources. Append-only.
create table audit_entries (
  -- UUIDv7: sorts by time.
  entry_id uuid primary key,
  at timestamptz not null,
  -- Null: the change concerns the company.
  workspace text,
  action text not null,
  kind text not null,
  name text not null,
  details jsonb,
  -- Who: the administrator, the holder of a named key or token, or the server itself.
  actor text not null,
  actor_name text,
  -- From where.
  call text,
  request_id text,
  address text
);

create index audit_entries_by_workspace on audit_entries (workspace, entry_id);

-- Jobs -----------------------------------------------------------------------------------------------

-- A job is a row while there is work to do. A server process leases it and keeps renewing the lease, so
-- that another process takes over from a killed one.
create table jobs (
  job_id uuid primary key,
  workspace_id integer not null,
  kind text not null,
  -- What the job works on; its format depends on the kind.
  subject text not null,
  -- The earliest time to start.
  run_at timestamptz not null,
  -- Failed attempts since the job last made progress.
  failures integer not null,
  holder uuid,
  leased_until timestamptz,
  -- One job at a time for each subject.
  unique (workspace_id, kind, subject)
);

create table schedules (
  workspace_id integer not null,
  kind text not null,
  subject text not null,
  -- Five fields, in UTC.
  cron text not null,
  next_at timestamptz not null,
  primary key (workspace_id, kind, subject)
);

create index schedules_by_time on schedules (next_at);

-- People ---------------------------------------------------------------------------------------------
-- A profile is found through its identifiers. The profile row repeats them, so that everything that
-- belongs to a person can be removed by key.

create type identifier_kind as enum ('external_id', 'alias', 'email', 'phone');

-- distributed by: bucket
create table identifiers (
  workspace_id integer not null,
  bucket smallint not null,
  -- Normalized for lookup: emails in lower case, phone numbers in E.164, aliases with their label. In the
  -- order of its bytes, so that a prefix is a range of the index whatever the database's own collation.
  value text collate "C" not null,
  kind identifier_kind not null,
  profile_id uuid not null,
  primary key (value, workspace_id, bucket, kind, profile_id)
);

-- An external_id or alias belongs to one profile; profiles may share an email or phone number. Both
-- indexes also serve the search by prefix, which names the kind: hence the workspace leads. Intake names
-- no kind, so the planner never takes them for it.
create unique index identifiers_of_one on identifiers (workspace_id, kind, value, bucket)
  -- Otherwise the planner prefers the primary key, which holds it, and reads identifiers of all kinds.
  include (profile_id)
  where kind in ('external_id', 'alias');

create index identifiers_of_many on identifiers (workspace_id, kind, value, profile_id)
  where kind in ('email', 'phone');

-- distributed by: bucket
create table profiles (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  -- Increases with every write: an update computed from an older read matches no row.
  version bigint not null,
  external_id text,
  aliases jsonb not null,
  email text,
  phone text,
  standard_attributes jsonb not null,
  custom_attributes jsonb not null,
  created_at timestamptz not null,
  -- The last write of any kind: attribute, event, purchase or subscription.
  updated_at timestamptz not null,
  primary key (profile_id, workspace_id, bucket)
) with (fillfactor = 70);

-- Activity -------------------------------------------------------------------------------------------

-- distributed by: bucket
create table events (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  event_id uuid not null,
  name text not null,
  occurred_at timestamptz not null,
  app_id text,
  properties jsonb,
  -- The order of a timeline.
  primary key (profile_id, workspace_id, bucket, occurred_at, event_id)
);

-- distributed by: bucket
create table event_summaries (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  name text not null,
  count bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (profile_id, workspace_id, bucket, name)
) with (fillfactor = 70);

-- distributed by: bucket
create table purchases (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  purchase_id uuid not null,
  product_id text not null,
  currency text not null,
  price numeric not null,
  quantity integer not null,
  occurred_at timestamptz not null,
  app_id text,
  properties jsonb,
  primary key (profile_id, workspace_id, bucket, occurred_at, purchase_id)
);

-- distributed by: bucket
create table purchase_summaries (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  product_id text not null,
  -- Revenue is summed per currency and never converted.
  currency text not null,
  count bigint not null,
  revenue numeric not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (profile_id, workspace_id, bucket, product_id, currency)
) with (fillfactor = 70);

-- Apps, devices, interactions and message history are written by imports only.

-- distributed by: bucket
create table app_usages (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  app_id text not null,
  version text,
  sessions bigint not null,
  first_used_at timestamptz not null,
  last_used_at timestamptz not null,
  primary key (profile_id, workspace_id, bucket, app_id)
);

-- distributed by: bucket
create table devices (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  device_id text not null,
  details jsonb not null,
  primary key (profile_id, workspace_id, bucket, device_id)
);

-- distributed by: bucket
create table interactions (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  -- campaign, canvas or card
  kind text not null,
  interaction_id text not null,
  details jsonb not null,
  primary key (profile_id, workspace_id, bucket, kind, interaction_id)
);

-- distributed by: bucket
create table message_history (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  message_id text not null,
  channel text not null,
  sent_at timestamptz not null,
  details jsonb not null,
  primary key (profile_id, workspace_id, bucket, message_id)
);

-- Subscriptions --------------------------------------------------------------------------------------

create table subscription_groups (
  workspace_id integer not null,
  group_id text not null,
  name text not null,
  channel text not null,
  declared boolean not null,
  primary key (workspace_id, group_id)
);

-- distributed by: bucket
create table group_states (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  group_id text not null,
  state text not null,
  changed_at timestamptz not null,
  primary key (profile_id, workspace_id, bucket, group_id)
);

-- Belongs to the address: applies to every profile that has it, now or later.
-- distributed by: bucket
create table email_states (
  workspace_id integer not null,
  bucket smallint not null,
  email text not null,
  state text not null,
  -- When it was set; of a refusal, when it was last repeated.
  set_at timestamptz not null,
  primary key (email, workspace_id, bucket)
);

-- For the list of refusals.
create index email_states_unsubscribed on email_states (workspace_id, set_at, email)
  where state = 'unsubscribed';

-- Addresses that refused a mail for good, as the sender of the mails reports them. In lower case.
-- distributed by: bucket
create table hard_bounces (
  workspace_id integer not null,
  bucket smallint not null,
  email text not null,
  bounced_at timestamptz not null,
  primary key (email, workspace_id, bucket)
);

create index hard_bounces_by_time on hard_bounces (workspace_id, bounced_at, email);

-- The two histories record every change of a state, its time and its call: consent must be provable.
-- They are distributed like the states they describe.

-- distributed by: bucket
create table group_state_changes (
  workspace_id integer not null,
  bucket smallint not null,
  profile_id uuid not null,
  -- UUIDv7: sorts by time.
  change_id uuid not null,
  group_id text not null,
  state text not null,
  changed_at timestamptz not null,
  -- The declared call, such as POST /users/track.
  call text not null,
  -- The name of the API key; null for other callers.
  key_name text,
  request_id text not null,
  primary key (profile_id, workspace_id, bucket, change_id)
);

create index group_state_changes_by_time
  on group_state_changes (workspace_id, changed_at, change_id);

-- distributed by: bucket
create table email_state_changes (
  workspace_id integer not null,
  bucket smallint not null,
  email text not null,
  change_id uuid not null,
  state text not null,
  changed_at timestamptz not null,
  call text not null,
  key_name text,
  request_id text not null,
  primary key (email, workspace_id, bucket, change_id)
);

create index email_state_changes_by_time
  on email_state_changes (workspace_id, changed_at, change_id);

-- Identity -------------------------------------------------------------------------------------------

-- Redirects the id of a merged profile to the kept one. The target always exists: a merge also moves the
-- redirects that led to the profile it removes.
-- distributed by: bucket
create table merged_profiles (
  workspace_id integer not null,
  bucket smallint not null,
  -- Removed by the merge; the id is never used again.
  profile_id uuid not null,
  kept_profile_id uuid not null,
  -- An external_id that redirects too: of the removed profile (redirect_merged_ids), or renamed.
  external_id text,
  -- Whether the row stands for a renamed external_id alone. Then profile_id is of no profile.
  is_rename boolean not null,
  merged_at timestamptz not null,
  primary key (profile_id, workspace_id, bucket)
);

create index merged_profiles_by_kept on merged_profiles (kept_profile_id, workspace_id);

-- How many requests ended redirects of external ids. A cached external_id is valid for one count.
create table external_id_removals (
  workspace_id integer primary key,
  removals bigint not null
);

-- Who merged, identified or deleted which profiles, when, and with what effects; no personal data.
-- distributed by: bucket
create table identity_audit (
  workspace_id integer not null,
  bucket smallint not null,
  audit_id uuid not null,
  at timestamptz not null,
  -- merge, identify or delete
  action text not null,
  call text not null,
  key_name text,
  request_id text not null,
  -- The profile that was kept or deleted.
  profile_id uuid not null,
  merged_profile_id uuid,
  effects jsonb not null,
  primary key (audit_id, workspace_id, bucket)
);

create index identity_audit_by_profile on identity_audit (profile_id, workspace_id);

create index identity_audit_by_merged_profile on identity_audit (merged_profile_id, workspace_id)
  where merged_profile_id is not null;

-- Campaigns and translations -------------------------------------------------------------------------

-- Campaigns, and canvases: campaigns in steps.
create table campaigns (
  workspace_id integer not null,
  kind text not null,
  campaign_id uuid not null,
  name text not null,
  -- The steps of a canvas in order; empty for a campaign.
  step_ids uuid[] not null,
  declared boolean not null,
  primary key (workspace_id, kind, campaign_id)
);

create table messages (
  workspace_id integer not null,
  message_id uuid not null,
  kind text not null,
  campaign_id uuid not null,
  -- Null in a campaign.
  step_id uuid,
  channel text not null,
  multi_language boolean not null,
  -- Named texts with translation tags (subject, body), where the message was declared with them.
  content jsonb,
  -- The translatable strings by id, in the original language.
  source jsonb not null,
  declared boolean not null,
  updated_at timestamptz not null,
  primary key (message_id, workspace_id)
);

create index messages_of_campaign on messages (workspace_id, kind, campaign_id);

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

-- Translation files name a locale by its key, and tools change its case and separator.
create unique index locales_by_key on locales (workspace_id, lower(replace(locale_key, '_', '-')));

-- One row holds all strings of a message in one locale: they are read and written together. json, not
-- jsonb: no statement looks inside, and reading 40 maps of 500 strings takes 4 ms instead of 8.
create table message_translations (
  workspace_id integer not null,
  message_id uuid not null,
  locale_id uuid not null,
  translation_map json not null,
  -- The map's size as compact UTF-8 JSON; all locales of a message share one limit.
  byte_length integer not null,
  declared boolean not null,
  primary key (message_id, workspace_id, locale_id)
);

-- Preference centers ---------------------------------------------------------------------------------

create table preference_centers (
  workspace_id integer not null,
  center_id text not null,
  name text not null,
  title text not null,
  state text not null,
  page_html text not null,
  confirmation_html text not null,
  -- Where to redirect the browser instead of showing the confirmation page.
  redirect_url text,
  options jsonb not null,
  -- The original language of the pages; translations are texts by locale and id.
  locale text not null,
  translations jsonb not null,
  declared boolean not null,
  -- Changes with every update, so that a cached page is never served after it.
  revision uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, center_id)
);

create unique index preference_centers_by_name on preference_centers (workspace_id, name);

-- The secrets that sign page links: the newest signs, and one with a good_until still opens until then.
create table link_keys (
  purpose text not null,
  version integer not null,
  secret text not null,
  created_at timestamptz not null,
  good_until timestamptz,
  primary key (purpose, version)
);

-- Dashboard users ------------------------------------------------------------------------------------

create table permission_sets (
  company_id uuid not null,
  name text not null,
  permissions jsonb not null,
  declared boolean not null,
  primary key (company_id, name)
);

-- What a new user receives where the identity provider does not say.
create table scim_defaults (
  company_id uuid primary key,
  defaults jsonb not null
);

create table dashboard_users (
  company_id uuid not null,
  -- UUIDv7: lists are in the order of creation.
  user_id uuid not null,
  -- In lower case: user names compare without case.
  user_name_key text not null,
  external_id text,
  -- The attributes as sent, in their order, with names in place of ids.
  attributes json not null,
  -- The same, with every case-insensitive text in lower case, for filters.
  searchable jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_sign_in_at timestamptz,
  primary key (user_id, company_id),
  unique (user_name_key, company_id)
);

create index dashboard_users_by_external_id on dashboard_users (external_id, company_id);

-- Warehouse sync -------------------------------------------------------------------------------------

create table integrations (
  workspace_id integer not null,
  integration_id uuid not null,
  name text not null,
  type text not null,
  status text not null,
  contact_emails text[] not null,
  schedule text,
  retry jsonb not null,
  -- The source with its credentials; never returned, never logged.
  warehouse jsonb not null,
  declared boolean not null,
  created_at timestamptz not null,
  -- The watermark: the last processed UPDATED_AT in ISO 8601, UTC, microseconds, so that its text sorts.
  processed_through text,
  primary key (workspace_id, integration_id),
  unique (workspace_id, name)
);

-- The rows already processed at exactly the watermark, identified by a hash of their content.
create table boundary_rows (
  workspace_id integer not null,
  integration_id uuid not null,
  row_hash uuid not null,
  -- How many rows with this content were processed.
  processed integer not null,
  -- How many of them the run `seen_by` has read so far.
  seen integer not null,
  seen_by uuid not null,
  primary key (integration_id, workspace_id, row_hash)
);

create table sync_runs (
  workspace_id integer not null,
  integration_id uuid not null,
  -- UUIDv7: sorts by time.
  run_id uuid not null,
  status text not null,
  -- Why the run ended this way, or what it waits for.
  message text,
  started_at timestamptz not null,
  finished_at timestamptz,
  processed_through text,
  rows_expected bigint,
  rows_read bigint not null,
  rows_synced bigint not null,
  rows_skipped bigint not null,
  rows_failed bigint not null,
  primary key (integration_id, workspace_id, run_id)
);

create index sync_runs_by_age on sync_runs (started_at);

create table row_log (
  workspace_id integer not null,
  integration_id uuid not null,
  run_id uuid not null,
  entry_id uuid not null,
  outcome text not null,
  identity jsonb not null,
  -- As the source writes it.
  updated_at text,
  field text,
  code text not null,
  message text not null,
  logged_at timestamptz not null,
  primary key (run_id, workspace_id, entry_id)
);

create index row_log_by_age on row_log (logged_at);
