import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { openAdmin } from "../../../cli/admin-client.ts";
import { readCount } from "../../../cli/read-count.ts";
import { AdminError, type TargetOptions, targetOf, withTarget } from "../../../cli/target.ts";
import { paint, printLines, printNote } from "../../../cli/terminal.ts";
import { findWorkspaceName, workspacePath } from "../../../cli/workspace-option.ts";
import { RAPPORT } from "../../../core/base/command.ts";
import { textLinesOf } from "../../../core/base/lines.ts";
import type { RequestFilter } from "../request-filter.ts";
import type { LiveRequest } from "../request-view.ts";

/** A server-sent event. */
interface ServerEvent {
  readonly type: string;
  readonly data: string;
}

/** Events as Rapport writes them: each field on one line, a blank line after each event. Ends with the connection. */
async function* eventsIn(response: Response): AsyncGenerator<ServerEvent> {
  let fields = new Map<string, string>();
  try {
    for await (const line of textLinesOf("the stream", response.body ?? [])) {
      if (line !== "") {
        const [, name = "", value = ""] = /^(\w*): (.*)$/s.exec(line) ?? [];
        fields.set(name, value);
        continue;
      }
      const [type, data] = [fields.get("event"), fields.get("data")];
      if (type !== undefined && data !== undefined) yield { type, data };
      fields = new Map();
    }
  } catch (error) {
    // A connection that breaks off is an end like any other.
    if (!(error instanceof TypeError)) throw error;
  }
}

const HELP = `
Examples:
  ${RAPPORT} tail
  ${RAPPORT} tail --status 4xx --details
  ${RAPPORT} tail --endpoint /users/track --key backend
  ${RAPPORT} tail --user ada --json | jq .items
  RAPPORT_URL=https://rapport.example ${RAPPORT} tail

The server keeps live requests unless LIVE_REQUESTS=0. Requests to other servers appear after a second.`;

interface Options extends TargetOptions, RequestFilter {
  readonly workspace?: string;
  readonly details?: true;
  readonly limit?: number;
  readonly for?: number;
}

/** How often a lost connection is opened again, one second apart, before the command gives up. */
const MOST_ATTEMPTS = 30;

/** As long as the server keeps a stream; then it is opened again. */
const LONGEST_STREAM_SECONDS = 3_600;

/** The server counts whole seconds, and starts a little later. */
const ROUNDED_MS = 1_000;

/** `rapport tail`. */
export function define(command: Command): void {
  withTarget(command)
    .option("--workspace <name>", "needed if the server has several")
    .option("--status <status>", "only this status, such as 400 or 4xx")
    .option("--endpoint <path>", "only this path, such as /users/track")
    .option("--key <name>", "only requests with this API key, by name or id")
    .option("--user <id>", "only requests that name this user")
    .option("--code <code>", "only requests with an item that got this code")
    .option("--details", "also prints each rejected item with its reason")
    .option("--limit <count>", "stops after this many requests", readCount)
    .option("--for <seconds>", "stops after this many seconds", readCount)
    .addHelpText("after", HELP)
    .action(tail);
}

async function tail(options: Options): Promise<void> {
  const target = targetOf(options);
  const workspace = await findWorkspaceName(target, options.workspace);
  const stream = `${workspacePath(workspace)}/requests/stream`;
  const endsAt = performance.now() + (options.for ?? Number.POSITIVE_INFINITY) * 1_000;
  const open = () => openAdmin(target, `${stream}?${queryOf(options, endsAt)}`);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  for (let response = await open(); ; response = await openAgain(open)) {
    for await (const { type, data } of eventsIn(response)) {
      print(type, data, options);
      if (type === "request" && --left === 0) return;
    }
    if (performance.now() >= endsAt - ROUNDED_MS) return;
    printNote("The connection was lost. Connecting again …");
  }
}

function queryOf({ status, key, user, endpoint, code }: Options, endsAt: number): URLSearchParams {
  const seconds = Math.ceil((endsAt - performance.now()) / 1_000);
  const for_seconds = String(Math.max(0, Math.min(LONGEST_STREAM_SECONDS, seconds)));
  const given = Object.entries({ status, key, user, endpoint, code, for_seconds });
  return new URLSearchParams(
    given.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

async function openAgain(open: () => Promise<Response>): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    await sleep(1_000);
    try {
      return await open();
    } catch (error) {
      const isPassing =
        error instanceof AdminError && (error.status === undefined || error.status === 503);
      if (!isPassing || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

function print(type: string, data: string, { json, details }: Options): void {
  if (type === "skipped") {
    const { skipped } = JSON.parse(data) as { readonly skipped: number };
    printNote(`${skipped} more came in at once and are not shown.`);
  } else if (json) printLines([data]);
  else printLines(describeRequest(JSON.parse(data) as LiveRequest, details ?? false));
}

/** A request in one line; with `details` each rejected item with its reason below it. */
function describeRequest(request: LiveRequest, details: boolean): string[] {
  const { at, method, path, status, duration_ms, key } = request;
  const code = paint(status >= 500 ? "red" : status >= 400 ? "yellow" : "green", String(status));
  const head = [at.slice(11, 23), code, `${method} ${path}`, `${duration_ms} ms`, key.name];
  const line = [...head, verdictOf(request)].filter(Boolean).join("  ");
  return details ? [line, ...reasonsOf(request).map((reason) => `    ${reason}`)] : [line];
}

/** `2 of 3 accepted, INVALID_TIME`; for a refused request its sentence. */
function verdictOf({ status, items, response, code }: LiveRequest): string {
  const rejected = items.filter((item) => !item.accepted);
  const codes = [...new Set(rejected.flatMap(({ code }) => code ?? []))];
  const message = (response as { readonly message?: unknown } | null)?.message;
  if (status >= 400 && codes.length === 0) {
    return [code, message].filter((part) => typeof part === "string").join(" ");
  }
  if (items.length === 0) return "";
  const counts = `${items.length - rejected.length} of ${items.length} accepted`;
  return [counts, ...codes].join(", ");
}

const reasonsOf = ({ items }: LiveRequest): string[] =>
  items
    .filter(({ accepted, code }) => !accepted && code !== null)
    .map(({ kind, index, user, code, message }) =>
      `${kind}[${index}]${user === null ? "" : ` ${user}`}: ${code} ${message ?? ""}`.trimEnd(),
    );
