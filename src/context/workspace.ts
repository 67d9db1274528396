import type { Permission } from "./permissions.ts";

/** A rate limit of a workspace's own: `off`, or so many requests in so many seconds. */
export type RateLimitSetting = "off" | { readonly requests: number; readonly per_seconds: number };

export type Intake = "strict" | "lenient";

/** The settings of a workspace as the manifest spells them, with every default filled in. */
export interface WorkspaceSettings {
  /** How many attributes, events and purchases together one track request may hold. */
  readonly track_max_updates: number;
  /** How strictly track reads objects. docs/decisions/intake.md */
  readonly intake: Intake;
  /** How many bytes of JSON the custom attributes of one profile may take. */
  readonly profile_max_bytes: number;
  /** How many distinct names of custom attributes its users may have in total. */
  readonly max_attribute_names: number;
  /** How many distinct names its events may have. */
  readonly max_event_names: number;
  /** How many users it may have; 0 for any number. */
  readonly max_users: number;
  /** For how many days events and purchases are kept one by one; 0 for ever. */
  readonly keep_events_days: number;
  readonly keep_purchases_days: number;
  /** For how many days the rows that a sync did not apply are listed. */
  readonly keep_row_log_days: number;
  /** For how many days captured calls are kept. */
  readonly keep_captured_days: number;
  readonly multi_language: boolean;
  readonly blocked_external_ids: readonly string[];
  readonly rate_limits: Readonly<Partial<Record<Permission, RateLimitSetting>>>;
  /** Whether the external_id of a merged profile leads to the kept one afterwards. */
  readonly redirect_merged_ids: boolean;
  /** Whether public calls that Rapport does not serve are stored and get a success. */
  readonly capture_unsupported: boolean;
  /** How its pages present it. */
  readonly brand: {
    readonly company?: string;
    /** An address, or the image itself as a data URL. */
    readonly logo_url?: string;
    /** Of buttons and switches: #3453d1. */
    readonly color?: string;
    /** The same for dark screens. */
    readonly color_dark?: string;
  };
}

export type Channel = "email" | "sms" | "whatsapp";

/** The workspace on whose behalf a request runs, with all that is declared about it. */
export interface Workspace {
  readonly id: number;
  readonly name: string;
  /** Whether it may be emptied by a reset. */
  readonly allowReset: boolean;
  readonly settings: WorkspaceSettings;
  readonly appIds: ReadonlySet<string>;
  /** The channel of each subscription group, by group id. */
  readonly groupChannels: ReadonlyMap<string, Channel>;
}
