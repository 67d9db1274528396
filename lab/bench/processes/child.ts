import { fork } from "node:child_process";

/*
 * The roles of the benchmark with separate processes: the load, the two floors, and the peers. They
 * are started with their settings, and then handle calls, one at a time.
 */

export type Role = "load" | "bare-http" | "plain-sql" | "peer" | "peer-load";

export interface Child {
  readonly processId: number;
  /** The role's greeting when it was ready. */
  readonly greeting: unknown;
  call<Result>(argument: unknown): Promise<Result>;
  stop(): Promise<void>;
}

type Message = { readonly result: unknown } | { readonly error: string };

/**
 * Starts a role; resolves when it is ready.
 *
 * @param environment in addition to this process's. @throws the role's error.
 */
export async function startChild(
  role: Role,
  settings: unknown,
  environment: Readonly<Record<string, string>> = {},
): Promise<Child> {
  const child = fork(process.argv[1] as string, [role], {
    // Standard output has only the figures.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, ...environment },
  });
  const ended = new Promise<never>((_, reject) => {
    child.once("exit", (code, signal) => reject(new Error(`${role} ended: ${code ?? signal}`)));
  });
  ended.catch(() => {});
  const call = async (argument: unknown): Promise<unknown> => {
    const answer = new Promise<Message>((resolve) => child.once("message", resolve));
    child.send({ argument });
    const message = await Promise.race([answer, ended]);
    if ("error" in message) throw new Error(`${role}: ${message.error}`);
    return message.result;
  };
  const greeting = await call(settings);
  return {
    processId: child.pid as number,
    greeting,
    call: <Result>(argument: unknown) => call(argument) as Promise<Result>,
    async stop() {
      if (child.connected) child.disconnect();
      await ended.catch(() => {});
    },
  };
}

/** A role starts with its settings, greets, and answers calls until it is released. */
export type RoleMain<Settings, Argument> = (settings: Settings) => Promise<{
  readonly greeting?: unknown;
  call?(argument: Argument): Promise<unknown>;
}>;

/** The other end of `startChild`. */
export function playRole<Settings, Argument>(main: RoleMain<Settings, Argument>): void {
  let running: ReturnType<typeof main> | undefined;
  async function answer(argument: unknown): Promise<unknown> {
    if (running) return (await running).call?.(argument as Argument);
    running = main(argument as Settings);
    return (await running).greeting;
  }
  process.on("message", ({ argument }: { argument: unknown }) => {
    answer(argument).then(
      (result) => process.send?.({ result }),
      (error: Error) => process.send?.({ error: error.stack ?? error.message }),
    );
  });
  process.on("disconnect", () => process.exit());
}
