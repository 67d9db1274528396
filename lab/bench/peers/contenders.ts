import type { Contender } from "./contender.ts";
import { parseServer } from "./parse-server.ts";
import { postGraphile } from "./postgraphile.ts";
import { rapport } from "./rapport.ts";

/** Rapport, and the peers that it is compared with. */
export const CONTENDERS = {
  rapport,
  "parse-server": parseServer,
  postgraphile: postGraphile,
} as const satisfies Record<string, Contender>;

export type ContenderName = keyof typeof CONTENDERS;
