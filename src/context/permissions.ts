/**
 * What an API key may be allowed to do.
 *
 * spec: Authentication (the table), and the design's names where the specification gives none.
 */
export const PERMISSIONS = [
  "users.track",
  "users.track.bulk",
  "users.track.sync",
  "users.export.ids",
  "users.alias.new",
  "users.alias.update",
  "users.external_ids.rename",
  "users.external_ids.remove",
  "users.identify",
  "users.merge",
  "users.delete",
  "subscription.status.set",
  "subscription.status.get",
  "subscription.groups.get",
  "email.status",
  "email.unsubscribe",
  "email.hard_bounces",
  "email.bounce.remove",
  "email.blacklist",
  "cdi.integration_list",
  "cdi.integration_job_status",
  "cdi.integration_sync",
  "preference_center.update",
  "preference_center.list",
  "preference_center.get",
  "preference_center.user.get",
  "campaigns.translations.get",
  "campaigns.translations.update",
  "canvas.translations.get",
  "canvas.translations.update",
] as const;

export type Permission = (typeof PERMISSIONS)[number];
