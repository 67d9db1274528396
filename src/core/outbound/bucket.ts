/* Files that a feature writes into a bucket, through a connection that another feature knows. */

export interface BucketFolder {
  readonly connection: string;
  /** `s3://bucket/folder/` */
  readonly url: string;
}

export interface WritableBucket {
  /** Stores an object below the folder; an object of the same name is replaced. @throws SourceUnfit, SourceFailed */
  put(name: string, data: Uint8Array, type: string): Promise<void>;
}

/**
 * Opens a folder of a bucket for writing.
 *
 * @throws NotConnected, OutsideRoot; SourceUnfit if the credentials of the connection cannot be opened.
 */
export type OpenBucket = (
  workspaceId: number,
  folder: BucketFolder,
  signal: AbortSignal,
) => Promise<WritableBucket>;
