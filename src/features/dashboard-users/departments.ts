export const DEPARTMENTS = [
  "agency",
  "bi",
  "c_suite",
  "engineering",
  "finance",
  "marketing",
  "pm",
] as const;
