import { SETTINGS } from "../server/config.ts";

/** Every setting of a server, for `--help`. */
export function settingsHelp(): string {
  const lines = Object.entries(SETTINGS).map(([name, { about, default: value }]) => {
    return `  ${name.padEnd(17)} ${about}${value && ` (default: ${value})`}`;
  });
  return `\nEnvironment:\n${lines.join("\n")}`;
}
