import { randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";

const HELP = `
An existing file is not changed.

Example:
  ${RAPPORT} init rapport.yaml
  export RAPPORT_KEY=$(openssl rand -hex 24)
  MANIFEST=rapport.yaml ${RAPPORT} serve`;

export function define(command: Command): void {
  command
    .argument("[file]", "where to write it", "rapport.yaml")
    .addHelpText("after", HELP)
    .action(async (path: string) => {
      const file = await open(path, "wx");
      await file.writeFile(manifest()).finally(() => file.close());
      process.stdout.write(
        `Wrote ${path}. Set RAPPORT_KEY (${KEY}), check it with ${RAPPORT} validate ${path}, and apply it.\n`,
      );
    });
}

const KEY = "openssl rand -hex 24";

const newId = (): string =>
  randomBytes(16)
    .toString("hex")
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-a$4-$5");

/** A manifest to begin with; `rapport schema` prints all that it can have. */
const manifest = (): string => `# yaml-language-server: $schema=manifest.schema.json
# ${RAPPORT} schema > manifest.schema.json
version: 1
company:
  name: Acme
workspaces:
  - name: main
    api_keys:
      - { name: backend, key: "\${RAPPORT_KEY}", permissions: [all] }
    apps:
      - { id: ${newId()}, name: Web, platform: web }
    subscription_groups:
      - { id: ${newId()}, name: Newsletter, channel: email }
`;
