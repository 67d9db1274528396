-- alongside the previous version: safe
--
-- Whether a recorded response may name people: erasing a person looks through these alone (docs/personal-data.md).

alter table idempotency_keys add column names_people boolean not null default true;

create index idempotency_keys_naming on idempotency_keys (workspace_id, key) where names_people;
