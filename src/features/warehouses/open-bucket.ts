import { Unopenable } from "../../core/admin/secrets/seal.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import type { Queryable } from "../../core/database/database.ts";
import type { OpenBucket, WritableBucket } from "../../core/outbound/bucket.ts";
import type { Outbound } from "../../core/outbound/outbound.ts";
import { NotConnected, OutsideRoot, SourceUnfit } from "../../core/outbound/unfit.ts";
import { selectConnectionsOf } from "./connection-store.ts";
import { openConnection } from "./connections.ts";
import { isBelowRoot } from "./sources/kinds.ts";
import { keyPath, type S3Place, s3Client, storageOf } from "./sources/s3-client.ts";

/* Writes files into a bucket through a connection of the company, of the kind that syncs from S3 use. */

export interface BucketServices {
  readonly database: Queryable;
  readonly sealing: Sealing;
  readonly outbound: Outbound;
}

/** Opens folders through the connections that the company shares with a workspace. */
export const createBucketOpener =
  (services: BucketServices): OpenBucket =>
  (...wanted) =>
    openBucket(services, ...wanted);

async function openBucket(
  { database, sealing, outbound }: BucketServices,
  ...[workspaceId, { connection, url }, signal]: Parameters<OpenBucket>
): Promise<WritableBucket> {
  const usable = await selectConnectionsOf(database, workspaceId);
  const found = usable.find(({ name, type }) => name === connection && type === "s3");
  if (!found) {
    throw new NotConnected(`There is no connection '${connection}' of type s3 for this workspace.`);
  }
  const place = { url, ...openOrRefuse(() => openConnection(sealing, found.companyId, found)) };
  if (!isBelowRoot(place)) {
    throw new OutsideRoot(`${url} is not below the root of the connection '${connection}'.`);
  }
  const { path } = storageOf(place as unknown as S3Place);
  const send = s3Client(place as unknown as S3Place, { signal, outbound });
  return {
    async put(name, data, type) {
      (await send({ place: keyPath(`${path}${name}`), put: { data, type } })).discard();
    },
  };
}

function openOrRefuse<Opened>(open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof Unopenable)) throw error;
    throw new SourceUnfit(`${error.message} Declare the connection again with its credentials.`);
  }
}
