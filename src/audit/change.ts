/** One change that is recorded. */
export interface AuditedChange {
  /** `created`, `updated`, `removed`, or a verb of the kind's own, such as `rotated`. */
  readonly action: string;
  /** What was changed, in the singular: `api_key`, `subscription_group`, `dashboard_user`. */
  readonly kind: string;
  /** Empty or absent for what belongs to the company. */
  readonly workspace?: string;
  /** The name or id of what was changed. */
  readonly name: string;
  /** The new state, or what was done. Visible to administrators; never a secret. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}
