import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../../base/clock.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import type { Manifest } from "./manifest.ts";
import {
  type AppliedManifest,
  insertAppliedManifest,
  selectAppliedManifests,
  selectLastAppliedHash,
} from "./store.ts";

/* Remembers which manifests were applied, so that a server with an old file does not undo a newer one. */

/** A manifest was not applied, because a newer one of the same workspaces was. */
export class OlderManifest extends Error {
  readonly newer: AppliedManifest;

  constructor(newer: AppliedManifest) {
    const { source, server, appliedAt, version } = newer;
    super(
      `A newer manifest${version === null ? "" : ` (version ${version})`} was applied on ` +
        `${appliedAt.toISOString()} by ${server} from ${source}.`,
    );
    this.name = "OlderManifest";
    this.newer = newer;
  }
}

const hashOf = (manifest: Manifest): string =>
  createHash("sha256").update(JSON.stringify(manifest)).digest("hex");

function scopeOf({ company, workspaces }: Manifest): string[] {
  const declaresMore = Object.keys(company).some((key) => key !== "name");
  return [
    ...workspaces.map(({ name }) => `workspace ${name}`),
    ...(declaresMore ? ["company"] : []),
  ];
}

/**
 * The newest manifest about the same workspaces, if it replaced this one: it has a higher version
 * or, if one of them has none, this one was applied before it.
 */
export async function findNewer(
  tx: Queryable,
  manifest: Manifest,
): Promise<AppliedManifest | undefined> {
  const [hash, scope] = [hashOf(manifest), scopeOf(manifest)];
  const applied = await selectAppliedManifests(tx);
  const own = applied.find((each) => each.hash === hash);
  // They come in the order in which they were applied.
  const newest = applied.filter((each) => each.scope.some((entry) => scope.includes(entry))).at(-1);
  if (!newest || newest.hash === hash) return undefined;
  if (manifest.version !== undefined && newest.version !== null) {
    return manifest.version < newest.version ? newest : undefined;
  }
  return own ? newest : undefined;
}

export async function recordApplied(
  tx: Transaction,
  clock: Clock,
  manifest: Manifest,
  source: string,
): Promise<void> {
  const hash = hashOf(manifest);
  // A start with the same file writes nothing, so that it works on a full disk.
  if ((await selectLastAppliedHash(tx)) === hash) return;
  await insertAppliedManifest(tx, {
    hash,
    version: manifest.version ?? null,
    scope: scopeOf(manifest),
    source,
    server: hostname(),
    appliedAt: clock.now(),
  });
}
