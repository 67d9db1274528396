import { type Command, Option } from "commander";
import { callAdmin } from "../../../cli/admin-client.ts";
import { printChanges } from "../../../cli/changes/changes.ts";
import { readChanges } from "../../../cli/changes/follow.ts";
import { writeOutput } from "../../../cli/output-file.ts";
import { counted } from "../../../cli/progress.ts";
import { readCount } from "../../../cli/read-count.ts";
import type { AdminTarget } from "../../../cli/target.ts";
import {
  type ConfirmOptions,
  confirm,
  plain,
  printJson,
  printLines,
  printNote,
  printText,
} from "../../../cli/terminal.ts";
import {
  addWorkspaceCommand,
  locate as locateWorkspace,
  type WorkspaceOptions,
} from "../../../cli/workspace-option.ts";
import { RAPPORT } from "../../../core/base/command.ts";
import { describeUser, type FoundUser, findUser, type UserOptions } from "./find-user.ts";
import { describeEntry, readTimeline } from "./timeline.ts";

type Options = WorkspaceOptions & UserOptions;

const HELP = `
A user is named by external_id, alias name, email address, phone number or platform_id. A search also finds names.

Examples:
  ${RAPPORT} users search "lovelace ada"
  ${RAPPORT} users count
  ${RAPPORT} users get ada@example.com
  ${RAPPORT} users timeline ada --kind event --limit 20
  ${RAPPORT} users watch ada
  ${RAPPORT} users export ada ada.json
  ${RAPPORT} users merge ada-old ada --dry-run
  ${RAPPORT} users merges ada
  ${RAPPORT} users erase ada`;

const IDENTIFIERS = ["external_id", "alias", "email", "phone"];

/** `rapport users …`: the data about one person, through the admin API of a running server. */
export function define(users: Command): void {
  users.addHelpText("after", HELP);
  const command = (usage: string, about: string, example: string) =>
    addWorkspaceCommand(users, usage, about, example).addOption(
      new Option("--identifier <kind>", "only identifiers of this kind").choices(IDENTIFIERS),
    );

  command(
    "search <text>",
    "Finds users by the beginning of an identifier, or of words of the name.",
    "search ada --identifier email",
  )
    .option("--limit <count>", "how many at most", readCount, 20)
    .action(search);
  addWorkspaceCommand(users, "count", "Says how many users there are.", "count --json").action(
    countUsers,
  );
  command(
    "get <user>",
    "Shows everything that is stored about a user, except the timeline.",
    "get ada --json",
  ).action(get);
  command(
    "timeline <user>",
    "Shows the timeline of a user, newest first.",
    "timeline ada --kind event --since 2026-01-01",
  )
    .option("--limit <count>", "how many entries at most", readCount, 50)
    .option("--since <time>", "ISO 8601")
    .option("--kind <kinds...>", "event, purchase, message, subscription or identity")
    .action(timeline);
  command(
    "watch <user>",
    "Prints the changes of a user as they are made.",
    "watch ada --json",
  ).action(watch);
  command(
    "export <user> [file]",
    "Writes everything that is stored about a user, for an access request.",
    "export ada ada.json",
  )
    .addOption(
      new Option("--format <format>", "one document, or one object per line")
        .choices(["json", "ndjson"])
        .default("json"),
    )
    .addHelpText("after", "\nWithout a file, or for -, it goes to standard output.")
    .action(exportOne);
  command(
    "erase <user>",
    "Erases a user: profile, history, and the state of the address.",
    "erase ada --yes",
  )
    .option("-y, --yes", "does not ask")
    .action(erase);
  command("merge <user> <into>", "Merges a user into another one.", "merge ada-old ada --dry-run")
    .option("--dry-run", "previews the effects without merging")
    .option("-y, --yes", "does not ask")
    .action(merge);
}

async function search(text: string, options: Options & { limit: number }): Promise<void> {
  const { target, path } = await locateWorkspace(options, "/users");
  const query = new URLSearchParams({ query: text });
  if (options.identifier) query.set("identifier", options.identifier);
  const found: FoundUser[] = [];
  let hasMore = true;
  while (hasMore && found.length < options.limit) {
    query.set("limit", String(Math.min(100, options.limit - found.length)));
    const page = `${path}?${query}`;
    const { users, next_cursor } = await callAdmin<"listUsers">(target, "GET", page);
    found.push(...users);
    hasMore = next_cursor !== undefined;
    if (next_cursor) query.set("cursor", next_cursor);
  }
  const users = found.slice(0, options.limit);
  if (options.json) printJson({ users, has_more: hasMore });
  else printLines(users.map(describeUser));
  if (users.length === 0) printNote(`No user matches '${text}'.`);
  else if (hasMore) printNote("There are more: narrow the search, or pass --limit.");
}

async function countUsers(options: Options): Promise<void> {
  const { target, path } = await locateWorkspace(options, "/user-count");
  const { users, exact, counted_at } = await callAdmin<"getUserCount">(target, "GET", path);
  if (options.json) return printJson({ users, exact, counted_at });
  printText(`${exact ? "" : "About "}${counted(users, "user")}\n`);
}

async function get(text: string, options: Options): Promise<void> {
  const { target, userPath } = await locate(text, options);
  const record = await readRecord(target, userPath);
  if (options.json) printJson(record);
  else printText((await import("yaml")).stringify(record));
}

type TimelineOptions = Options & { kind?: string[]; since?: string; limit: number };

async function timeline(text: string, options: TimelineOptions): Promise<void> {
  const { target, userPath } = await locate(text, options);
  let since: string | undefined;
  await writeOutput("-", entries());
  if (since !== undefined) printNote(`Changes of attributes are complete from ${since} on.`);

  async function* entries(): AsyncGenerator<string> {
    const onSince = (time: string) => {
      since = time;
    };
    for await (const entry of readTimeline(target, userPath, options, onSince)) {
      yield `${plain(options.json ? JSON.stringify(entry) : describeEntry(entry))}\n`;
    }
  }
}

/** Needs the change feed of the workspace. */
async function watch(text: string, options: Options): Promise<void> {
  const { target, userPath, user } = await locate(text, options);
  const path = userPath.replace(/\/users\/[^/]+$/, "");
  const following = { path, cursor: undefined, user: user.platform_id, follows: true };
  for await (const page of readChanges(target, following)) {
    await printChanges(page.changes, options.json === true);
  }
}

async function exportOne(
  text: string,
  file: string | undefined,
  options: Options & { format: AccessFormat },
): Promise<void> {
  const { target, userPath, user } = await locate(text, options);
  const path = file ?? "-";
  await writeOutput(path, accessRequest(target, userPath, options.format));
  if (path === "-") return;
  if (options.json) printJson({ platform_id: user.platform_id, file: path });
  else printText(`Wrote everything about ${plain(describeUser(user))} to ${path}.\n`);
}

async function erase(text: string, options: Options & ConfirmOptions): Promise<void> {
  const { target, userPath, user } = await locate(text, options);
  await confirm(`This erases ${describeUser(user)} and everything the user did.`, options);
  const { email_state, audit } = await callAdmin<"deleteUser">(target, "DELETE", userPath);
  if (options.json) return printJson({ platform_id: user.platform_id, email_state, audit });
  const address = {
    erased: "The state of the address is erased.",
    kept: "Other users have the address: its state stays.",
    none: "The address had no state.",
  };
  const effects = audit.effects.map(({ field, name }) => `  ${field}${name ? `: ${name}` : ""}`);
  printLines([
    `The user ${user.platform_id} is erased. ${address[email_state]}`,
    `The audit recorded the deletion at ${audit.at} (entry ${audit.id}), with names and counts:`,
    ...effects,
    "For up to 24 hours, recorded responses to requests with an Idempotency-Key may hold identifiers;",
    "for up to 30 days, so may the logs of warehouse syncs. Backups still contain the user.",
  ]);
}

type MergeOptions = Options & ConfirmOptions & { dryRun?: true };

async function merge(text: string, into: string, options: MergeOptions): Promise<void> {
  const { target, userPath, user } = await locate(text, options);
  const { user: kept } = await locate(into, options);
  if (!options.dryRun) {
    const sentence = `This merges ${describeUser(user)} into ${describeUser(kept)}.`;
    await confirm(sentence, options);
  }
  const body = { into: kept.platform_id, ...(options.dryRun && { dry_run: true }) };
  const { merged, effects } = await callAdmin<"mergeUser">(
    target,
    "POST",
    `${userPath}/merge`,
    body,
  );
  if (options.json) return printJson({ merged, effects });
  printLines([
    merged
      ? `Merged into ${kept.platform_id}:`
      : "The merge would have these effects (nothing was changed):",
    ...effects.map(
      ({ field, name, effect, result }) =>
        `  ${field}${name ? `.${name}` : ""}: ${effect.replaceAll("_", " ")}, then ${JSON.stringify(result)}`,
    ),
  ]);
}

async function locate(text: string, options: Options) {
  const { target, path } = await locateWorkspace(options, "/users");
  const user = await findUser(target, path, text, options);
  return { target, user, userPath: `${path}/${user.platform_id}` };
}

type AccessFormat = "json" | "ndjson";

/** The stored data about a user, without the timeline. */
async function readRecord(target: AdminTarget, userPath: string): Promise<object> {
  const answer = await callAdmin<Record<string, unknown>>(target, "GET", userPath);
  const { message: _message, ...record } = answer;
  return record;
}

/**
 * Everything that is stored about a user, as the text of one JSON document, or as one JSON object a line:
 * first the record, then the entries of the timeline. The memory that it takes does not grow with the
 * length of the timeline.
 */
async function* accessRequest(
  target: AdminTarget,
  userPath: string,
  format: AccessFormat,
): AsyncGenerator<string> {
  const head = { exported_at: new Date().toISOString(), ...(await readRecord(target, userPath)) };
  const entries = readTimeline(target, userPath, {});
  if (format === "ndjson") {
    yield `${JSON.stringify(head)}\n`;
    for await (const entry of entries) yield `${JSON.stringify(entry)}\n`;
    return;
  }
  yield `${JSON.stringify(head, null, 2).replace(/\n\}$/, "")},\n  "timeline": [`;
  let separator = "\n    ";
  for await (const entry of entries) {
    yield `${separator}${JSON.stringify(entry)}`;
    separator = ",\n    ";
  }
  yield "\n  ]\n}\n";
}
