-- alongside the previous version: safe
--
-- What subscribers of a group get, for the page on which they choose (docs/preference-centers.md).

alter table subscription_groups add column description text;
