import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { callAdmin, type Reply } from "./admin-client.ts";
import { counted } from "./progress.ts";
import { type TargetOptions, targetOf, withTarget } from "./target.ts";
import { type ConfirmOptions, confirm, printJson, printLines, printResult } from "./terminal.ts";

const HELP = `
To change the key, restart the servers with the new one as SECRET_KEY and the earlier one as
PREVIOUS_SECRET_KEY, run ${RAPPORT} secrets rotate, and remove PREVIOUS_SECRET_KEY.

Example:
  ${RAPPORT} secrets rotate`;

/** `rapport secrets status|rotate|discard`. */
export function define(secrets: Command): void {
  secrets.addHelpText("after", HELP);

  withTarget(secrets.command("status"))
    .description("Shows the key in use, and how many secrets are sealed with each key.")
    .addHelpText("after", `\nExample:\n  ${RAPPORT} secrets status`)
    .action(async (options: TargetOptions) => {
      const status = await callAdmin<"getSecretKey">(targetOf(options), "GET", "/secret-key");
      printResult(options, status, describe);
    });

  withTarget(secrets.command("rotate"))
    .description("Seals every stored secret with SECRET_KEY, on a running server.")
    .addHelpText(
      "after",
      "\nExit codes: 0 when every secret was sealed, 2 when some cannot be opened.",
    )
    .addHelpText("after", `\nExample:\n  ${RAPPORT} secrets rotate`)
    .action(async (options: TargetOptions) => {
      const path = "/secret-key/rotate";
      const done = await callAdmin<"rotateSecretKey">(targetOf(options), "POST", path);
      printResult(options, done, describeRotation);
      if (done.unreadable > 0) process.exitCode = 2;
    });

  secrets
    .command("discard")
    .description(
      "Discards the secrets whose key is lost; needs the database, with its servers stopped.",
    )
    .option("-y, --yes", "does not ask")
    .option("--json", "prints the result as JSON")
    .addHelpText("after", `\nExample:\n  ${RAPPORT} secrets discard`)
    .action(async (options: ConfirmOptions & Pick<TargetOptions, "json">) => {
      const { discardSecrets } = await import("../server/server-secrets.ts");
      const { assemble } = await import("../server/assemble.ts");
      const { sealedKinds } = await assemble();
      const { readConfig } = await import("../server/config.ts");
      await confirm(
        "Links to preference pages sent so far stop working and cannot be restored.",
        options,
      );
      const lost = await discardSecrets(readConfig(), sealedKinds);
      if (options.json) printJson({ discarded: lost });
      else {
        printLines([
          `Discarded ${counted(lost, "link secret")}.`,
          "Start the server and apply the manifest that declares the warehouse integrations.",
        ]);
      }
    });
}

const describeRotation = ({ resealed, unreadable }: Reply<"rotateSecretKey">): string[] => [
  `Sealed ${counted(resealed, "secret")} with SECRET_KEY.`,
  ...(unreadable > 0 ? [`${counted(unreadable, "secret")} cannot be opened with any key.`] : []),
];

const describe = ({ secrets, ...keys }: Reply<"getSecretKey">): string[] => [
  `key in use            ${keys.key_id ?? "none yet"}`,
  `SECRET_KEY            ${keys.secret_key_id ?? "not set"}`,
  `PREVIOUS_SECRET_KEY   ${keys.previous_secret_key_id ?? "not set"}`,
  `sealed with SECRET_KEY: ${secrets.current}, with the previous one: ${secrets.previous}, ` +
    `not sealed yet: ${secrets.plain}, unreadable: ${secrets.unreadable}`,
];
