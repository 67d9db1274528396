-- alongside the previous version: unsafe, because it signs in the makers of links as the administrator, and folds more
-- letters of user names than ASCII
--
-- The dashboard user who made a link and whom it signs in; null: the administrator.

alter table sign_in_links add column user_id uuid;

-- The key of a user name folds ASCII letters alone: others may look alike.

update dashboard_users
  set user_name_key = translate(attributes ->> 'userName', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
  where user_name_key <> translate(attributes ->> 'userName', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

update dashboard_users set searchable = jsonb_set(searchable, '{userName}', to_jsonb(user_name_key))
  where searchable ->> 'userName' <> user_name_key;
