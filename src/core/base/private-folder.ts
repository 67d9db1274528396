import { chmodSync, type Dirent, lstatSync, readdirSync } from "node:fs";
import { chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** The permissions of anyone but the owner. */
const OTHERS = 0o077;

/** Set on folders that all users of the machine share, such as /tmp. */
const STICKY = 0o1000;

/** Takes the permissions of everyone but the owner out of a mode. */
export const ownerOnly = (mode: number): number => mode & ~OTHERS;

/**
 * Creates a folder for its owner only (mode 0700), and closes an existing one to everyone else. A
 * folder that all users share (`/tmp`) or that belongs to another user keeps its mode.
 */
export async function createPrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode } = await stat(folder);
  if ((mode & OTHERS) === 0 || (mode & STICKY) !== 0) return;
  await chmod(folder, ownerOnly(mode) & 0o777).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EPERM") throw error;
  });
}

/**
 * Removes all permissions except the owner's from a folder and its content: earlier versions
 * created files with mode 0666, and so does unpacking a copy.
 */
export function makeTreePrivate(folder: string): void {
  makePrivate(folder);
  const entries: Dirent[] = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isSymbolicLink()) makePrivate(join(entry.parentPath, entry.name));
  }
}

function makePrivate(path: string): void {
  const { mode } = lstatSync(path);
  if ((mode & OTHERS) !== 0) chmodSync(path, ownerOnly(mode) & 0o777);
}
