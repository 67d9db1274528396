import { lookup, Resolver } from "node:dns/promises";

/*
 * How names become addresses. The system's look-up knows the hosts file and the search list of the machine, but it
 * holds a thread of the process until a name server has answered, and two such threads serve everything: the database,
 * mail, webhooks. So a name that others give is asked of the name server over a socket, which is closed when nobody
 * waits any more. Only a name that the name server does not have goes on to the system, one at a time.
 */

/** How long the name server may take for its first answer; the second try takes twice as long. */
const TRY_MS = 2_000;

const TRIES = 2;

/** The code of the system's look-up if no name server answers. */
const NO_ANSWER = "EAI_AGAIN";

/**
 * The addresses of a name, or of any spelling of an address, as the system sees it.
 *
 * @throws the error of `getaddrinfo`, or the reason of the signal.
 */
export async function lookUpAsSystem(name: string, signal?: AbortSignal): Promise<string[]> {
  const found = await unlessAborted(lookup(name, { all: true, verbatim: true }), signal);
  return found.map(({ address }) => address);
}

/**
 * The addresses of a name that others give, which has a dot.
 *
 * @throws an error like that of `getaddrinfo`, or the reason of the signal.
 */
export async function lookUpForeign(name: string, signal?: AbortSignal): Promise<string[]> {
  signal?.throwIfAborted();
  // A new one each time: it reads the machine's settings now, and can be cancelled alone.
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  const cancel = () => resolver.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  const both = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  signal?.removeEventListener("abort", cancel);
  signal?.throwIfAborted();
  const [four = [], six = []] = both.map((each) => (each.status === "fulfilled" ? each.value : []));
  // Not all addresses are tried: both families are among the first.
  const found = [...four.slice(0, 1), ...six.slice(0, 1), ...four.slice(1), ...six.slice(1)];
  if (found.length > 0) return found;
  if (both.some(isSilence)) {
    const error = new Error(`getaddrinfo ${NO_ANSWER} ${name}`);
    throw Object.assign(error, { code: NO_ANSWER, syscall: "getaddrinfo" });
  }
  return inTurn(() => lookUpAsSystem(name), signal);
}

const isSilence = (each: PromiseSettledResult<unknown>): boolean =>
  each.status === "rejected" && each.reason.code === "ETIMEOUT";

/** The latest of the look-ups that wait for each other. */
let latest: Promise<unknown> = Promise.resolve();

/** Does work after all that was given before; never, if its signal is aborted by then. */
function inTurn<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  const turn = latest.then(() => {
    signal?.throwIfAborted();
    return work();
  });
  latest = turn.catch(() => {});
  return unlessAborted(turn, signal);
}

async function unlessAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (!signal) return work;
  let abort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason);
  });
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
