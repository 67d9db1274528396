import type { Command } from "commander";
import { callAdmin } from "./admin-client.ts";
import { type AdminTarget, type TargetOptions, targetOf, withTarget } from "./target.ts";
import { printResult } from "./terminal.ts";
import { findWorkspaceName, workspacePath } from "./workspace-option.ts";

type Options = TargetOptions & { readonly workspace?: string };

interface Webhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly state: string;
  readonly paused_reason: string | null;
  readonly failing_since: string | null;
}

interface Attempt {
  readonly outcome: string;
  readonly status: number | null;
  readonly error: string | null;
}

interface Delivery extends Attempt {
  readonly webhook_id: string;
  readonly kind: string;
  readonly changes: number;
  readonly attempt: number;
  readonly at: string;
}

interface DeadLetter {
  readonly dead_letter_id: string;
  readonly change_id: string;
  readonly type: string;
  readonly status: number | null;
  readonly at: string;
}

const HELP = `
Examples:
  rapport webhooks list
  rapport webhooks test crm
  rapport webhooks deliveries crm
  rapport webhooks replay crm --from 2026-01-31T12:00:00Z`;

/** `rapport webhooks …`: what becomes of deliveries, through the admin API of a running server. */
export function define(webhooks: Command): void {
  webhooks.addHelpText("after", HELP);
  const command = (usage: string, about: string, example: string) =>
    withTarget(webhooks.command(usage).description(about))
      .option("--workspace <name>", "needed if the server has several")
      .addHelpText("after", `\nExample:\n  rapport webhooks ${example}`);

  command("list", "Lists the webhooks and how they stand.", "list --json").action(list);
  command("test <id>", "Sends a signed delivery without changes.", "test crm").action(test);
  command("deliveries <id>", "Lists the last attempts, the newest first.", "deliveries crm").action(
    deliveries,
  );
  command(
    "dead-letters <id>",
    "Lists the changes that the receiver refused, the newest first.",
    "dead-letters crm",
  ).action(deadLetters);
  command("replay <id>", "Delivers changes again.", "replay crm --from beginning")
    .option("--from <place>", "a cursor of the feed, a time, or beginning")
    .option("--dead-letter <id>", "a dead letter, at once")
    .action(replay);
}

async function list(options: Options): Promise<void> {
  const { target, path } = await locate(options);
  const { webhooks } = await callAdmin<{ webhooks: readonly Webhook[] }>(target, "GET", path);
  printResult(options, webhooks, (all) => all.map(describeWebhook));
}

function describeWebhook(webhook: Webhook): string {
  const { id, name, url, state, paused_reason: reason, failing_since: since } = webhook;
  const trouble = reason ?? (since === null ? "" : `failing since ${since}`);
  return [id, state, name, url, ...(trouble ? [trouble] : [])].join("  ");
}

const describeAttempt = ({ outcome, status, error }: Attempt): string =>
  [outcome, ...(status === null ? [] : [status]), ...(error === null ? [] : [error])].join("  ");

/** Fails where the receiver did not accept. */
async function test(id: string, options: Options): Promise<void> {
  const { target, path } = await locate(options);
  const attempt = await callAdmin<Attempt>(
    target,
    "POST",
    `${path}/${encodeURIComponent(id)}/test`,
  );
  report(options, attempt);
}

function report(options: Options, attempt: Attempt): void {
  printResult(options, attempt, (each) => [describeAttempt(each)]);
  if (attempt.outcome !== "delivered") process.exitCode = 1;
}

async function deliveries(id: string, options: Options): Promise<void> {
  const { target, path } = await locate(options);
  const answer = await callAdmin<{ deliveries: readonly Delivery[] }>(
    target,
    "GET",
    `${path}/${encodeURIComponent(id)}/deliveries`,
  );
  printResult(options, answer.deliveries, (all) =>
    all.map((each) =>
      [
        each.at,
        each.kind,
        `${each.changes} changes`,
        `attempt ${each.attempt}`,
        describeAttempt(each),
        each.webhook_id,
      ].join("  "),
    ),
  );
}

async function deadLetters(id: string, options: Options): Promise<void> {
  const { target, path } = await locate(options);
  const answer = await callAdmin<{ dead_letters: readonly DeadLetter[] }>(
    target,
    "GET",
    `${path}/${encodeURIComponent(id)}/dead-letters?limit=1000`,
  );
  printResult(options, answer.dead_letters, (all) =>
    all.map((each) =>
      [each.dead_letter_id, each.at, each.type, String(each.status ?? ""), each.change_id].join(
        "  ",
      ),
    ),
  );
}

async function replay(
  id: string,
  options: Options & { readonly from?: string; readonly deadLetter?: string },
): Promise<void> {
  const { from, deadLetter } = options;
  if ((from === undefined) === (deadLetter === undefined)) {
    throw new Error("Pass either --from or --dead-letter.");
  }
  const { target, path } = await locate(options);
  const { attempt } = await callAdmin<{ attempt: Attempt | null }>(
    target,
    "POST",
    `${path}/${encodeURIComponent(id)}/replay`,
    from === undefined ? { dead_letter: deadLetter } : { from },
  );
  if (attempt) report(options, attempt);
  else printResult(options, { from }, () => ["The replay runs beside what is new."]);
}

async function locate(options: Options): Promise<{ target: AdminTarget; path: string }> {
  const target = targetOf(options);
  const name = await findWorkspaceName(target, options.workspace);
  return { target, path: `${workspacePath(name)}/webhooks` };
}
