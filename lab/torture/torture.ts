import { createClient } from "./client.ts";
import { type Round, runRound } from "./round.ts";
import { openPlace, type TorturedEngine } from "./servers.ts";

export interface Torture {
  readonly engine: TorturedEngine;
  readonly rounds: number;
  /** Instead of a number of rounds. */
  readonly minutes?: number;
  readonly seed: number;
}

const SAY_EVERY_ROUNDS = 10;

/**
 * Tortures the program in a repository, or in a copy of it with a fault.
 *
 * @returns what went wrong first; undefined if nothing did.
 */
export async function torture(
  root: string,
  { engine, rounds, minutes, seed }: Torture,
  tell: (line: string) => void,
): Promise<string | undefined> {
  const place = await openPlace(engine, root);
  const client = createClient(place.servers);
  const done: Round[] = [];
  const startedAt = Date.now();
  const isOver = () =>
    minutes === undefined ? done.length >= rounds : Date.now() - startedAt > minutes * 60_000;
  const report = () => {
    const sum = (of: (round: Round) => number) =>
      done.reduce((total, round) => total + of(round), 0);
    const { acknowledged, broken, unavailable } = client.counts;
    tell(
      `${engine}: ${done.length} rounds, ${sum(({ kills }) => kills)} kills, ` +
        `${sum(({ items }) => items)} acknowledged items checked; ${acknowledged} requests, ` +
        `${broken} of them broken on the way, ${unavailable} responses 503; ` +
        `${Math.round((Date.now() - startedAt) / 1_000)} s`,
    );
  };
  try {
    while (!isOver()) {
      const number = done.length;
      done.push(await runRound(place, client, number, seed * 100_000 + number));
      // Data that was once right must stay so, through later kills.
      await done[Math.floor(Math.random() * done.length)]?.check();
      if (done.length % SAY_EVERY_ROUNDS === 0) report();
    }
    report();
    return undefined;
  } catch (error) {
    report();
    return `round ${done.length}: ${(error as Error).message}`;
  } finally {
    await place.remove();
  }
}
