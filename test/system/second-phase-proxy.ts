import { type AddressInfo, connect, createServer } from "node:net";

/** A proxy before a node of a cluster, for connections without encryption. */
export interface SecondPhaseProxy {
  readonly port: number;
  /** From now on it closes so many of the connections that tell the node to commit what it has prepared, instead of passing that on. */
  cutOff(connections: number): void;
  /** How many it has closed. */
  cuts(): number;
  close(): Promise<void>;
}

export async function secondPhaseProxy(node: number): Promise<SecondPhaseProxy> {
  let left = 0;
  let cuts = 0;
  const open = new Set<{ destroy(): void }>();
  const listener = createServer({ noDelay: true }, (from) => {
    const to = connect({ port: node, host: "127.0.0.1", noDelay: true });
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      open.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
    to.pipe(from);
    from.on("data", (sent) => {
      if (left > 0 && sent.includes("COMMIT PREPARED")) {
        left -= 1;
        cuts += 1;
        from.destroy();
      } else to.write(sent);
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    cutOff(connections) {
      left = connections;
    },
    cuts: () => cuts,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
