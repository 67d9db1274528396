-- alongside the previous version: safe

-- What a workspace holds: each event, product and type of a custom attribute, and how often it was sent.
create table catalogue (
  workspace_id integer not null,
  -- event, attribute or product
  kind text not null,
  name text collate "C" not null,
  -- Of the values of an attribute; otherwise empty.
  data_type text not null,
  seen bigint not null,
  first_seen timestamptz,
  last_seen timestamptz,
  primary key (workspace_id, kind, name, data_type)
);

create table catalogue_days (
  workspace_id integer not null,
  kind text not null,
  name text collate "C" not null,
  day date not null,
  seen bigint not null,
  primary key (workspace_id, kind, name, day)
);

create index catalogue_days_by_day on catalogue_days (day);

-- What was sent before: names of attributes without their types, which are counted from now on.
insert into catalogue (workspace_id, kind, name, data_type, seen, first_seen, last_seen)
select workspace_id, 'event', name, '', sum(count), min(first_at), max(last_at)
from event_summaries group by workspace_id, name;

insert into catalogue (workspace_id, kind, name, data_type, seen, first_seen, last_seen)
select workspace_id, 'product', product_id, '', sum(count), min(first_at), max(last_at)
from purchase_summaries group by workspace_id, product_id;

insert into catalogue (workspace_id, kind, name, data_type, seen)
select workspace_id, kind, name, '', 0 from used_names on conflict do nothing;
