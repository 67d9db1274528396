/** What a check found. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warning" | "failed";
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string;
}
