import { ATTACKER_KEY } from "../attacked-server.ts";
import { head, holdSockets, statusLine } from "../sockets.ts";
import { type Attack, mustHold, scaled } from "../target.ts";

/* Attacks that need a connection and no key. */

export const CONNECTION_ATTACKS: readonly Attack[] = [
  {
    name: "34 large bodies announced to an unknown path",
    before: "no track request served for a minute",
    run: (target) =>
      holdSockets(target, { count: 34, bytes: head("/nowhere", 4_194_304), reads: true }),
  },
  {
    name: "2,100 bodies of one byte announced",
    before: "no POST served",
    run: (target) => {
      const count = scaled(target, 2_100);
      return holdSockets(target, { count, bytes: head("/users/track", 1), reads: true });
    },
  },
  {
    name: "300 large bodies announced with a key",
    before: "no POST served",
    run: (target) => {
      const bytes = head("/users/track", 4_194_304, ATTACKER_KEY);
      return holdSockets(target, { count: scaled(target, 300), bytes, reads: true });
    },
  },
  ...(["/docs", "/openapi.json"].map((path) => ({
    name: `250 connections of 20 × ${path} that read nothing`,
    before: "1,992 of 2,000 slots held for 90 s",
    run: (target) => {
      const bytes = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(20);
      return holdSockets(target, { count: scaled(target, 250), bytes, reads: false });
    },
  })) as Attack[]),
  {
    name: "two Host headers",
    before: "accepted",
    run: async (target) => {
      const line = await statusLine(
        target,
        "GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      );
      mustHold(line.includes(" 400 "), `The response begins with '${line}'.`);
      return line;
    },
  },
];
