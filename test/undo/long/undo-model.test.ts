import { test } from "node:test";
import { ENGINE, startServer } from "../../harness.ts";
import { sized } from "../../sizes.ts";
import { checkAtOnce, checkTheRule, checkTogether } from "../undo-model.ts";

const server = await startServer();

/** UNDO_HISTORIES=10000 runs that many; UNDO_SEED begins with another one. */
const HISTORIES = Number(
  process.env.UNDO_HISTORIES ?? (ENGINE === "postgres" ? sized(10, 60) : sized(20, 150)),
);
const FIRST = Number(process.env.UNDO_SEED ?? 1);

/** Histories that once gave something else. */
const FOUND = [20_129, 20_199, 30_860, 50_020, 50_053];

const seeds = [...Array.from({ length: HISTORIES }, (_, index) => FIRST + index), ...FOUND];

test("the undo of random merges, right away and in any order, gives back every row about the users", async () => {
  for (const seed of seeds) await checkAtOnce(server, seed);
});

test("the undo of several merges of one request, of users who share addresses and groups, gives back every row about them", async () => {
  for (const seed of seeds) await checkTogether(server, seed);
});

test("after random writes between merges and their undo, users are as if nobody had been merged", async () => {
  for (const seed of seeds) await checkTheRule(server, seed);
});
