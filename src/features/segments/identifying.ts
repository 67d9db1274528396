/**
 * The attributes that tell who a user is, or by which one user can be picked out of all. The dashboard offers them only to
 * people with `view_pii`.
 */
export const IDENTIFYING: readonly string[] = [
  "external_id",
  "alias_label",
  "email",
  "phone",
  "first_name",
  "last_name",
  "image_url",
  "random_bucket",
];
