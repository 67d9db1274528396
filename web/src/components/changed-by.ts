import { sentence } from "./tag.tsx";

/* Who did something, in words: for the audit log, and for the histories of users. */

interface Actor {
  readonly actor: string;
  readonly actor_name: string | null;
}

/** The name of the administrator in a session of the dashboard. */
const IN_THE_DASHBOARD = "dashboard";

/** Who did it. */
export const whoOf = ({ actor, actor_name }: Actor): string =>
  actor_name && actor_name !== IN_THE_DASHBOARD ? actor_name : sentence(actor);

const ORIGINS: Readonly<Record<string, string>> = {
  administrator: "with the admin token",
  key: "with an API key",
  scim: "by SCIM",
  anybody: "without a session",
};

/** Where: a person in the dashboard, a program elsewhere. */
export function originOf({ actor, actor_name }: Actor): string {
  if (actor === "dashboard_user" || actor_name === IN_THE_DASHBOARD) return "in the dashboard";
  return ORIGINS[actor] ?? "";
}

interface Change {
  /** The endpoint, or the kind of the job. */
  readonly call: string;
  /** Of the key or person. */
  readonly key_name?: string | null;
}

/** Who changed something about a user, as the histories of users have it. */
export function changedBy({ call, key_name: name = null }: Change): string {
  if (call.includes(" /admin/v1/")) {
    const isPerson = name !== null && name !== IN_THE_DASHBOARD;
    const by = { actor: isPerson ? "dashboard_user" : "administrator", actor_name: name };
    return `${whoOf(by)}, ${originOf(by)}`;
  }
  if (name !== null) return `The key ${name}`;
  return call.includes(" /") ? "The user, on a preference page" : "A warehouse sync";
}
