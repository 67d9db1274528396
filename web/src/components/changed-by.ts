/** Who changed something about a user, from the call that the history has, and the name of its key or person. */
export function changedBy({
  call,
  key_name: name = null,
}: {
  readonly call: string;
  readonly key_name?: string | null;
}): string {
  if (!call.includes(" /admin/v1/")) return name ? `${call} with the key ${name}` : call;
  // The administrator in a session of the dashboard has this name.
  if (name === "dashboard") return "Administrator, in the dashboard";
  return name ? `${name}, in the dashboard` : "Administrator";
}
