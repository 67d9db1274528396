-- alongside the previous version: unsafe, because its check of the audit does not know the form of newer rows
--
-- Rows from before the chain: every row that is added from now on covers their number and their content
-- (docs/decisions/audit-chain.md), so that a row which is added outside the chain, or changed there, is noticed.

alter table audit_heads add column unchained_hash text not null default '';

update audit_heads set unchained_hash = (
  select encode(sha256(convert_to(coalesce(string_agg(jsonb_build_array(entry_id, extract(epoch from at),
    workspace, action, kind, name, details, actor, actor_name, call, request_id, address, hash)::text,
    E'\n' order by entry_id), ''), 'UTF8')), 'hex')
  from audit_entries where position is null);
