import type { Command } from "commander";
import { callAdmin } from "./admin-client.ts";
import {
  describeLife,
  type Listed,
  OVERLAP,
  printLines,
  printSecret,
  readDuration,
  revoke,
  rotate,
} from "./secrets.ts";
import { targetOf, withTarget } from "./target.ts";

interface ListedToken extends Listed {
  readonly service_origin: string;
  readonly require_origin: boolean;
  readonly previous_token_until: string | null;
}

/** `rapport scim-tokens list|create|rotate|revoke`: the same as `rapport keys`, for SCIM tokens. */
export function define(tokens: Command): void {
  const path = "/scim-tokens";
  tokens.addHelpText(
    "after",
    "\nExample:\n  rapport scim-tokens create okta --service-origin acme.example",
  );

  withTarget(tokens.command("list"))
    .description("Lists the tokens of the company.")
    .action(async (options) => {
      const target = targetOf(options);
      const answer = await callAdmin<{ scim_tokens: ListedToken[] }>(target, "GET", path);
      printLines(answer.scim_tokens.map(describeToken));
    });

  withTarget(tokens.command("create <name>"))
    .description("Creates a token and prints its secret, which is shown only once.")
    .requiredOption("--service-origin <origin>", "the required value of X-Request-Origin")
    .option("--no-require-origin", "for identity providers that cannot send that header")
    .action(async (name: string, options) => {
      const { serviceOrigin: service_origin, requireOrigin: require_origin } = options;
      await printSecret(targetOf(options), path, { name, service_origin, require_origin });
    });

  withTarget(tokens.command("rotate <name>"))
    .description("Gives a token a new secret and prints it; the old one keeps working for a while.")
    .option("--overlap <duration>", OVERLAP, readDuration)
    .action((name: string, options) => rotate(targetOf(options), path, name, options));

  withTarget(tokens.command("revoke <name>"))
    .description("Revokes a token at once, for good.")
    .action((name: string, options) => revoke(targetOf(options), path, name, "SCIM token"));
}

function describeToken(token: ListedToken): string {
  const origin = `${token.service_origin}${token.require_origin ? "" : " (not required)"}`;
  return [token.name, `origin ${origin}`, ...describeLife(token, token.previous_token_until)].join(
    "  ",
  );
}
