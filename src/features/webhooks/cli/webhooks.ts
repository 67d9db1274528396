import type { Command } from "commander";
import { callAdmin, type Reply } from "../../../cli/admin-client.ts";
import { readCount } from "../../../cli/read-count.ts";
import { OVERLAP, readDuration } from "../../../cli/secrets.ts";
import { printJson, printNote, printResult, printText } from "../../../cli/terminal.ts";
import {
  addWorkspaceCommand,
  findNamed,
  locate,
  type WorkspaceOptions,
} from "../../../cli/workspace-option.ts";
import { RAPPORT } from "../../../core/base/command.ts";

type Options = WorkspaceOptions;
type Webhook = Reply<"listWebhooks">["webhooks"][number];
type Delivery = Reply<"listWebhookDeliveries">["deliveries"][number];
type Attempt = Pick<Delivery, "outcome" | "status" | "error" | "at" | "duration_ms">;

const HELP = `
A webhook is named by its id or its name. It is declared in the manifest, or in the dashboard.

Examples:
  ${RAPPORT} webhooks list
  ${RAPPORT} webhooks test CRM
  ${RAPPORT} webhooks deliveries CRM
  ${RAPPORT} webhooks dead-letters CRM
  ${RAPPORT} webhooks resend CRM 0199f0a0-7c11-7000-8000-00c0ffee0001
  ${RAPPORT} webhooks replay CRM --from 2026-01-31T12:00:00Z
  ${RAPPORT} webhooks pause CRM
  ${RAPPORT} webhooks resume CRM
  ${RAPPORT} webhooks rotate CRM --overlap 24h`;

/** `rapport webhooks …`: where changes are delivered, through the admin API of a running server. */
export function define(webhooks: Command): void {
  webhooks.addHelpText("after", HELP);
  const command = (usage: string, about: string, example: string) =>
    addWorkspaceCommand(webhooks, usage, about, example);

  command("list", "Lists the webhooks, and how far each is behind.", "list --json").action(list);
  command(
    "test <webhook>",
    "Sends a signed delivery without changes, and prints the response.",
    "test CRM",
  ).action(sendTest);
  command(
    "deliveries <webhook>",
    "Lists the last 100 attempts, the newest first.",
    "deliveries CRM",
  ).action(listDeliveries);
  command(
    "dead-letters <webhook>",
    "Lists the changes that the receiver refused, the newest first.",
    "dead-letters CRM --limit 20",
  )
    .option("--limit <count>", "how many at most, up to 1,000", readCount, 100)
    .action(listDeadLetters);
  command(
    "resend <webhook> <dead-letter-id>",
    "Delivers a change again that the receiver refused.",
    "resend CRM 0199f0a0-7c11-7000-8000-00c0ffee0001",
  ).action(resend);
  command(
    "replay <webhook>",
    "Delivers changes again, beside new ones.",
    "replay CRM --from 2026-01-31T12:00:00Z",
  )
    .requiredOption("--from <place>", "a time, a cursor of the feed, or beginning")
    .action(replay);
  command(
    "pause <webhook>",
    "Stops deliveries. Their place in the feed is kept.",
    "pause CRM",
  ).action((given: string, options: Options) => setState(given, "paused", options));
  command("resume <webhook>", "Goes on where deliveries stopped.", "resume CRM").action(
    (given: string, options: Options) => setState(given, "active", options),
  );
  command(
    "rotate <webhook>",
    "Gives a webhook a new secret and prints it; the previous one signs too for an overlap.",
    "rotate CRM --overlap 24h",
  )
    .option("--overlap <duration>", OVERLAP, readDuration)
    .action(rotate);
}

async function list(options: Options): Promise<void> {
  const { target, path } = await locate(options, "/webhooks");
  const { webhooks } = await callAdmin<"listWebhooks">(target, "GET", path);
  printResult(options, webhooks, (all) => all.map(describeWebhook));
}

function describeWebhook(webhook: Webhook): string {
  const { id, name, url, state, paused_reason, failing_since, behind_since } = webhook;
  const parts = [id, name, url, paused_reason === null ? state : `paused: ${paused_reason}`];
  if (behind_since !== null) parts.push(`behind since ${behind_since}`);
  if (failing_since !== null) parts.push(`failing since ${failing_since}`);
  return parts.join("  ");
}

const describeAttempt = ({ outcome, status, error, duration_ms }: Attempt): string =>
  `${outcome}${status === null ? "" : ` (${status})`} after ${duration_ms} ms${error === null ? "" : `: ${error}`}`;

/** @throws if the receiver did not accept it, so that scripts notice. */
function printAttempt(options: Options, attempt: Attempt): void {
  printResult(options, attempt, (each) => [describeAttempt(each)]);
  if (attempt.outcome !== "delivered") process.exitCode = 1;
}

async function sendTest(given: string, options: Options): Promise<void> {
  const { target, path } = await find(given, options);
  printAttempt(options, await callAdmin<"testWebhook">(target, "POST", `${path}/test`, {}));
}

async function listDeliveries(given: string, options: Options): Promise<void> {
  const { target, path } = await find(given, options);
  const deliveriesPath = `${path}/deliveries`;
  const { deliveries } = await callAdmin<"listWebhookDeliveries">(target, "GET", deliveriesPath);
  printResult(options, deliveries, (all) => all.map(describeDelivery));
}

function describeDelivery(delivery: Delivery): string {
  const { at, webhook_id, kind, changes, attempt, next_attempt_at } = delivery;
  const next = next_attempt_at === null ? "" : `, again at ${next_attempt_at}`;
  const what = `${kind}, ${changes} changes, attempt ${attempt}`;
  return `${at}  ${webhook_id}  ${what}: ${describeAttempt(delivery)}${next}`;
}

async function listDeadLetters(
  given: string,
  options: Options & { readonly limit: number },
): Promise<void> {
  const { target, path } = await find(given, options);
  const { dead_letters } = await callAdmin<"listWebhookDeadLetters">(
    target,
    "GET",
    `${path}/dead-letters?limit=${options.limit}`,
  );
  printResult(options, dead_letters, (all) =>
    all.map((each) =>
      [each.dead_letter_id, each.at, each.type, each.change_id, each.status ?? ""].join("  "),
    ),
  );
}

async function resend(given: string, letter: string, options: Options): Promise<void> {
  const { target, path } = await find(given, options);
  const { attempt } = await callAdmin<{ attempt: Attempt }>(target, "POST", `${path}/replay`, {
    dead_letter: letter,
  });
  printAttempt(options, attempt);
}

async function replay(given: string, options: Options & { readonly from: string }): Promise<void> {
  const { target, path, webhook } = await find(given, options);
  await callAdmin(target, "POST", `${path}/replay`, { from: options.from });
  const done = { webhook: webhook.id, from: options.from };
  printResult(options, done, () => [`Delivering to '${webhook.name}' again from ${options.from}.`]);
}

async function setState(given: string, state: Webhook["state"], options: Options): Promise<void> {
  const { target, path, webhook } = await find(given, options);
  await callAdmin(target, "PATCH", path, { state });
  printResult(options, { webhook: webhook.id, state }, () => [`'${webhook.name}' is ${state}.`]);
}

async function rotate(
  given: string,
  options: Options & { readonly overlap?: number },
): Promise<void> {
  const { target, path } = await find(given, options);
  const { overlap } = options;
  const body = overlap === undefined ? {} : { overlap_seconds: overlap };
  const rotation = `${path}/rotate-secret`;
  const shown = await callAdmin<"rotateWebhookSecret">(target, "POST", rotation, body);
  if (options.json) return printJson(shown);
  printText(`${shown.secret}\n`);
  printNote(`The previous secret signs too until ${shown.previous_secret_until}.`);
}

async function find(given: string, options: Options) {
  const { target, path } = await locate(options, "/webhooks");
  const { webhooks } = await callAdmin<"listWebhooks">(target, "GET", path);
  const webhook = findNamed(webhooks, "webhook", given);
  return { target, webhook, path: `${path}/${encodeURIComponent(webhook.id)}` };
}
