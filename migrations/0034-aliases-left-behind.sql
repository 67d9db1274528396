-- alongside the previous version: safe

-- The aliases that a user who was identified without a merge (merge_behavior: none) gave to the identified user. They
-- lead events there, and delete no one. Null for every other row.
alter table merged_profiles add column left_aliases jsonb;
