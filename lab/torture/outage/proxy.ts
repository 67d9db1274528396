import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A network between the servers and their database. */
export interface Network {
  /** The database's URL through it. */
  readonly url: string;
  /** Cuts all connections. */
  cut(): void;
  /** From now on cuts each connection at its next commit: before it reaches the database, or after, before the response. */
  cutAtCommit(isOn: boolean): void;
  /** From now on nothing gets through, and connections stay open. */
  silence(isOn: boolean): void;
  close(): void;
}

export async function startNetwork(server: string): Promise<Network> {
  const target = new URL(server);
  const sockets = new Set<Socket>();
  let held: (() => void)[] | undefined;
  let cutsCommits = false;
  let commits = 0;
  const listener = createServer((client) => {
    const engine = connect(Number(target.port || 5432), target.hostname);
    for (const [socket, other] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.on("data", (chunk) => {
        if (held) return void held.push(() => other.write(chunk));
        if (cutsCommits && socket === client && chunk.includes("commit")) {
          if (commits++ % 2 === 0) return void client.resetAndDestroy();
          // The engine gets it, the client never learns what became of it.
          return void engine.end(chunk, () => client.resetAndDestroy());
        }
        other.write(chunk);
      });
    }
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const through = new URL(target);
  through.hostname = "127.0.0.1";
  through.port = String((listener.address() as AddressInfo).port);
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: through.href,
    cut,
    cutAtCommit(isOn) {
      cutsCommits = isOn;
    },
    silence(isOn) {
      if (isOn) held = [];
      else {
        for (const pass of held ?? []) pass();
        held = undefined;
      }
    },
    close() {
      cut();
      listener.close();
    },
  };
}
