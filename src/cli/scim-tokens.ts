import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import type { Reply } from "./admin-client.ts";
import {
  describeLife,
  OVERLAP,
  printListed,
  printSecret,
  readDuration,
  revoke,
  rotate,
} from "./secrets.ts";
import { withTarget } from "./target.ts";

/** `rapport scim-tokens list|create|rotate|revoke`: the same as `rapport keys`, for SCIM tokens. */
export function define(tokens: Command): void {
  const path = "/scim-tokens";
  tokens.addHelpText(
    "after",
    `\nExample:\n  ${RAPPORT} scim-tokens create okta --service-origin acme.example`,
  );

  withTarget(tokens.command("list"))
    .description("Lists the tokens of the company.")
    .addHelpText("after", `\nExample:\n  ${RAPPORT} scim-tokens list`)
    .action((options) => printListed(options, path, "scim_tokens", describeToken));

  withTarget(tokens.command("create <name>"))
    .description("Creates a token and prints its secret, which is shown only once.")
    .requiredOption("--service-origin <origin>", "the required value of X-Request-Origin")
    .option("--no-require-origin", "for identity providers that cannot send that header")
    .option(
      "--company-permissions <names...>",
      "the permissions in the company that it may grant (manage_company_settings by default)",
    )
    .addHelpText(
      "after",
      `\nExample:\n  ${RAPPORT} scim-tokens create idp --service-origin acme.example`,
    )
    .action(async (name: string, options) => {
      const { serviceOrigin: service_origin, requireOrigin: require_origin } = options;
      const { companyPermissions: company_permissions } = options;
      const grant = { service_origin, require_origin, company_permissions };
      await printSecret(options, path, { name, ...grant });
    });

  withTarget(tokens.command("rotate <name>"))
    .description(
      "Gives a token a new secret and prints it; the previous one stays valid for an overlap.",
    )
    .option("--overlap <duration>", OVERLAP, readDuration)
    .addHelpText("after", `\nExample:\n  ${RAPPORT} scim-tokens rotate idp --overlap 24h`)
    .action((name: string, options) => rotate(options, path, name));

  withTarget(tokens.command("revoke <name>"))
    .description("Revokes a token. This cannot be undone.")
    .option("-y, --yes", "does not ask")
    .addHelpText("after", `\nExample:\n  ${RAPPORT} scim-tokens revoke idp`)
    .action((name: string, options) => revoke(options, path, name, "SCIM token"));
}

function describeToken(token: Reply<"listScimTokens">["scim_tokens"][number]): string {
  const origin = `${token.service_origin}${token.require_origin ? "" : " (not required)"}`;
  const grants = `grants ${(token.company_permissions ?? []).join(", ") || "nothing in the company"}`;
  return [
    token.name,
    `origin ${origin}`,
    grants,
    ...describeLife(token, token.previous_token_until),
  ].join("  ");
}
