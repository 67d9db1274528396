import type { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import { ownerOnly } from "./private-folder.ts";

type Options = Parameters<NodeFS["init"]>[1];

type PreRun = NonNullable<Options["preRun"]>[number];

/** The part of Emscripten's NODEFS that sets modes. */
interface ModeOperations {
  readonly node_ops: {
    mknod(parent: unknown, name: string, mode: number, device: number): unknown;
    setattr(node: unknown, attributes: { mode?: number }): void;
  };
  readonly stream_ops: { setattr(stream: unknown, attributes: { mode?: number }): void };
}

/**
 * The engine's files in a folder, accessible to their owner only. Emscripten has a umask of its own
 * (022) and, when it unpacks a snapshot, sets mode 0666 and ignores the umask: so every mode is masked
 * where it reaches the real file system.
 */
export class PrivateNodeFS extends NodeFS {
  override async init(engine: PGlite, options: Options) {
    const { emscriptenOpts } = await super.init(engine, options);
    const preRun = [maskModes as unknown as PreRun, ...(emscriptenOpts.preRun ?? [])];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } };
  }
}

function maskModes({ NODEFS }: { NODEFS: ModeOperations }): void {
  const { node_ops, stream_ops } = NODEFS;
  const { mknod } = node_ops;
  node_ops.mknod = (parent, name, mode, device) => mknod(parent, name, ownerOnly(mode), device);
  for (const operations of [node_ops, stream_ops]) {
    const { setattr } = operations;
    operations.setattr = (target: unknown, attributes: { mode?: number }) =>
      setattr(
        target,
        attributes.mode === undefined
          ? attributes
          : { ...attributes, mode: ownerOnly(attributes.mode) },
      );
  }
}
