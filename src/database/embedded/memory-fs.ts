import { MemoryFS, PGlite } from "@electric-sql/pglite";
import type { SnapshotEntry } from "./snapshot.ts";

/** The part of Emscripten's file system that takes over bytes instead of copying them. */
interface OwningFiles {
  writeFile(path: string, bytes: Uint8Array, options: { canOwn: boolean }): void;
}

/** The engine's files in memory, at first those of a snapshot. */
export class SnapshotMemoryFS extends MemoryFS {
  readonly #entries: readonly SnapshotEntry[];

  constructor(entries: readonly SnapshotEntry[]) {
    super();
    this.#entries = entries;
  }

  override async initialSyncFs(): Promise<void> {
    const FS = (this.pg as PGlite).Module.FS;
    FS.mkdirTree(PGlite.paths.PGDATA);
    for (const { path, size, stored, bytes } of this.#entries) {
      const target = `${PGlite.paths.PGDATA}/${path}`;
      if (size === undefined) FS.mkdir(target);
      else {
        (FS as unknown as OwningFiles).writeFile(target, bytes, { canOwn: true });
        if (stored !== size) FS.truncate(target, size);
      }
    }
  }
}
