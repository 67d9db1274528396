import type { Call } from "../http/endpoint.ts";

/** Who does something, and from where. */
export interface Origin {
  readonly actor: Call["by"] | "server";
  /** The name of the key or token; null where the actor is one of a kind. */
  readonly actorName: string | null;
  /** The endpoint, as `POST /admin/v1/apply`; null where nobody called. */
  readonly call: string | null;
  readonly requestId: string | null;
  /** The caller's IP address. */
  readonly address: string | null;
}

/** One change that is recorded. */
export interface AuditedChange {
  /** `created`, `updated`, `removed`, or a verb of the kind's own, such as `rotated`. */
  readonly action: string;
  /** What was changed, in the singular: `api_key`, `subscription_group`, `dashboard_user`. */
  readonly kind: string;
  /** Empty or absent where it concerns the company. */
  readonly workspace?: string;
  /** By what the changed thing is known to those who administer it. */
  readonly name: string;
  /** What it is now, or what was done; public to administrators, and never a secret. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}
