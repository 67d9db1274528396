-- alongside the previous version: unsafe, because the rows that it adds are not part of the chain
--
-- Chains the rows of the audit: each row's hash covers its content and the hash before it
-- (docs/decisions/audit-chain.md). Rows from before stay without a position; their number is recorded.

alter table audit_entries add column position bigint;

alter table audit_entries add column hash text;

create unique index audit_entries_by_position on audit_entries (position);

-- The end of the chain: one row, locked by every transaction that adds to the audit.
create table audit_heads (
  chain text primary key,
  entries bigint not null,
  hash text not null,
  unchained bigint not null
);

insert into audit_heads (chain, entries, hash, unchained)
select 'audit', 0, '', count(*) from audit_entries;
