import type { Days } from "./api.ts";

export const PERIODS = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
] as const;

/** The period that an address names; 30 days by default. */
export const daysOf = (period: string | undefined): Days =>
  PERIODS.find(({ value }) => value === period)?.value ?? "30";
