import type { Command } from "commander";
import { callAdmin, type Reply } from "../../../cli/admin-client.ts";
import { type AdminTarget, type TargetOptions, targetOf, withTarget } from "../../../cli/target.ts";
import { printResult } from "../../../cli/terminal.ts";
import { findWorkspaceName } from "../../../cli/workspace-option.ts";
import { RAPPORT } from "../../../core/base/command.ts";

const HELP = `
The link signs in as the colleague. It works once, for seven days; then the colleague chooses a passkey or a password. A new
link ends the earlier one. A colleague who is not there yet is added, with the role in the workspace: viewer, marketer, developer,
or one of your own.

Examples:
  ${RAPPORT} invite grace@acme.example --name "Grace Hopper" --role marketer
  ${RAPPORT} invite grace@acme.example`;

interface InviteOptions extends TargetOptions {
  readonly name?: string;
  readonly role?: string;
  readonly workspace?: string;
  readonly department: string;
}

type Person = Reply<"addDashboardUser">["person"];

/** `rapport invite`. */
export function define(command: Command): void {
  withTarget(
    command
      .argument("<email>", "the email address of the colleague")
      .option("--name <name>", "given and family name of a new colleague")
      .option("--role <role>", "the role of a new colleague in the workspace")
      .option("--workspace <name>", "the workspace of the role; needed if there are several")
      .option("--department <department>", "the department of a new colleague", "marketing"),
  )
    .addHelpText("after", HELP)
    .action(async (email: string, options: InviteOptions) => {
      const target = targetOf(options);
      const person = (await findPerson(target, email)) ?? (await addPerson(target, email, options));
      const path = `/dashboard-users/${person.id}/invitations`;
      const invitation = await callAdmin<"inviteDashboardUser">(target, "POST", path);
      printResult(options, { ...invitation, id: person.id }, ({ url, mailed, expires_at }) => [
        url,
        `${mailed ? `Mailed to ${email}. It` : "It"} works once, until ${expires_at}.`,
      ]);
    });
}

/** The server finds parts of names; user names ignore the case of ASCII letters. */
async function findPerson(target: AdminTarget, email: string): Promise<Person | undefined> {
  const query = `?limit=100&query=${encodeURIComponent(email)}`;
  const path = `/dashboard-users${query}`;
  const { people } = await callAdmin<"findDashboardUsers">(target, "GET", path);
  const wanted = email.toLowerCase();
  return people.find(({ user_name }) => user_name.toLowerCase() === wanted);
}

async function addPerson(
  target: AdminTarget,
  email: string,
  { name, role, workspace, department }: InviteOptions,
): Promise<Person> {
  if (role === undefined) {
    throw new Error(
      `There is no colleague ${email} yet. Add them with a role: --role viewer, marketer, developer, or one of your own.`,
    );
  }
  const [given = "", ...family] = (name ?? email.split("@", 1)[0] ?? "").trim().split(/\s+/);
  const { person } = await callAdmin<"addDashboardUser">(target, "POST", "/dashboard-users", {
    user_name: email,
    given_name: given,
    family_name: family.join(" "),
    department,
    permissions: {
      companyPermissions: [],
      appGroup: [
        {
          appGroupName: await findWorkspaceName(target, workspace),
          appGroupPermissionSets: [{ appGroupPermissionSetName: role }],
        },
      ],
    },
  });
  return person;
}
