-- alongside the previous version: safe
--
-- Whether an identity provider manages a dashboard user, which it then may change back. The previous version, which
-- leaves the column out, creates dashboard users through SCIM alone.

alter table dashboard_users add column from_scim boolean not null default true;
