import { callAdmin, type Reply } from "../../../cli/admin-client.ts";
import type { AdminTarget } from "../../../cli/target.ts";
import { plain } from "../../../cli/terminal.ts";
import { RAPPORT } from "../../../core/base/command.ts";

export type FoundUser = Reply<"listUsers">["users"][number];

export interface UserOptions {
  readonly identifier?: string;
}

/**
 * The one user with this external_id, alias name, email address, phone number or platform_id.
 *
 * @throws if there is none, or several, with how to choose.
 */
export async function findUser(
  target: AdminTarget,
  path: string,
  text: string,
  { identifier }: UserOptions,
): Promise<FoundUser> {
  const query = new URLSearchParams({
    query: text,
    match: "exact",
    ...(identifier && { identifier }),
  });
  const { users } = await callAdmin<"listUsers">(target, "GET", `${path}?${query}`);
  const [user, second] = users;
  if (!user) {
    throw new Error(
      `There is no user '${text}'. Search by the beginning: ${RAPPORT} users search '${text.slice(0, 3)}'`,
    );
  }
  if (!second) return user;
  const list = users.map((each) => `  ${plain(describeUser(each))}`).join("\n");
  throw new Error(
    `${users.length} users are called '${text}':\n${list}\nName one by its platform_id.`,
  );
}

/** A user in one line, with the name and all identifiers. */
export function describeUser({ platform_id, ...user }: FoundUser): string {
  const aliases = user.user_aliases.map((alias) => `${alias.alias_label}:${alias.alias_name}`);
  const fullName = [user.first_name, user.last_name].filter((name) => name).join(" ");
  const names = [user.external_id, ...aliases, user.email, user.phone, fullName];
  return [platform_id, ...names.filter((name) => name)].join("  ");
}
