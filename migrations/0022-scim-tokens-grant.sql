-- alongside the previous version: safe
--
-- Which permissions in the company a SCIM token may give users (docs/decisions/scim.md).

alter table scim_tokens add column company_permissions text[] not null default '{manage_company_settings}';
