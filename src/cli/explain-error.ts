import { RAPPORT } from "../core/base/command.ts";
import { Problem } from "../core/base/problem.ts";

/** An error as the sentences that a user reads: what went wrong, and what to do about it. */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, port, address, syscall } = error as SystemError;
  if (code === "EADDRINUSE" && port !== undefined) {
    return (
      `Port ${port} on ${address} is in use by another program. ` +
      `Stop that program, or choose another port: PORT=${port + 1} ${RAPPORT} serve`
    );
  }
  if (code === "EACCES" && syscall === "listen") {
    return `This user may not listen on port ${port}. Choose a port above 1023, such as PORT=8080.`;
  }
  if (code === "EADDRNOTAVAIL") {
    return `This machine does not have the address ${address}. Set HOST to one of its addresses, such as 127.0.0.1.`;
  }
  const explain = path !== undefined && code !== undefined ? FILE_ERRORS[code] : undefined;
  if (explain) return `${path}: ${explain}`;
  if (code === "EFBIG") return "The file would be larger than this system or user may write.";
  if (code === "EDQUOT") return "The disk quota of this user is used up. Free some space.";
  if (code === "ENOSPC") return "The disk is full. Free some space, then run the command again.";
  // Users cannot do anything with an engine's error code.
  if (error instanceof Problem || !code || !/^E[A-Z]+$/.test(code)) return error.message;
  return `${error.message}${error.message.includes(code) ? "" : ` (${code})`}`;
}

interface SystemError extends Error {
  readonly code?: string;
  readonly path?: string;
  readonly port?: number;
  readonly address?: string;
  readonly syscall?: string;
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder.",
  EACCES: "this user may not read or write it.",
  EPERM: "this user may not change it.",
  EISDIR: "it is a folder, and a file is expected.",
  ENOTDIR: "a part of its path is not a folder.",
  EEXIST: "it exists already.",
  ENOSPC: "the disk is full. Free some space, then run the command again.",
  EROFS: "its disk is read-only.",
  EMFILE: "too many files are open.",
};
