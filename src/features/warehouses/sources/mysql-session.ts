import type { Socket } from "node:net";
import type { FieldPacket, QueryError } from "mysql2";
import { installationOf } from "../../../core/base/version.ts";
import { OutboundRefused } from "../../../core/outbound/outbound.ts";
import { ConnectionUnfit, SourceUnfit } from "../../../core/outbound/unfit.ts";
import { type Opening, SourceFailed, withoutValues } from "./source.ts";
import type { Values } from "./sql-table.ts";

/*
 * A connection to MySQL or MariaDB, in a read-only transaction: the rows of a statement arrive as the server finds them,
 * and it waits as long as a page of them is full. Why this client: docs/decisions/warehouse-clients.md
 */

export interface MysqlSettings {
  /** With user and password: `addressIn` reads it. */
  readonly url: string;
  readonly tls?: "verified" | "off";
  /** In PEM. */
  readonly ca?: string;
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export const PORT = 3_306;

/**
 * The parts of a MySQL URL; undefined if it is not one. Parameters are refused: an ignored one
 * might be important.
 */
export function addressIn(text: string): Address | undefined {
  try {
    const url = new URL(text);
    const { protocol, hostname, port, username, pathname, search, hash } = url;
    if (protocol !== "mysql:" || !hostname || !username || search || hash) return undefined;
    return {
      host: hostname.replace(/^\[|\]$/g, ""),
      port: Number(port || PORT),
      user: decodeURIComponent(username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(pathname.slice(1)),
    };
  } catch {
    return undefined;
  }
}

/** How many rows and characters are held before the server has to wait. */
const PAGE_ROWS = 1_000;
const PAGE_SIZE = 1_048_576;

/** A payload of 1 MB, and the identifiers; the descriptions of all columns of a table. */
const LARGEST_ROW_BYTES = 16 * 1_048_576;

const CONNECT_MS = 10_000;

/** How long a server may look for the first rows of a statement. */
const LONGEST_SEARCH_MS = 3_600_000;

/** How long a page may take after that, apart from the time that rows wait for us. */
const LONGEST_PAGE_MS = 300_000;

const CANCEL_MS = 5_000;

const KEEP_ALIVE_MS = 30_000;

/** One transaction: every statement sees the rows as they were at its beginning. A write of ours may take its time. */
const PREPARATION = [
  "set session time_zone = '+00:00', sql_mode = '', net_write_timeout = 600",
  "start transaction with consistent snapshot, read only",
];

/**
 * Connects, and begins the transaction.
 *
 * @throws SourceUnfit; SourceFailed if another try may help.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its statements share one connection and what became of it.
export async function openSession(settings: MysqlSettings, opening: Opening) {
  const { signal } = opening;
  const link = await connect(settings, opening);
  const { client } = link;
  let failure: unknown;
  let isRunning = false;
  let closing: Promise<void> | undefined;
  /** Called when there is something new for a statement that waits. */
  let wake = () => {};

  const fail = (error: unknown) => {
    failure ??= error;
    wake();
  };
  client.on("error", fail);
  const abort = () => {
    fail(signal.reason);
    void close();
  };
  signal.addEventListener("abort", abort, { once: true });

  function close(): Promise<void> {
    signal.removeEventListener("abort", abort);
    const cancelled = isRunning ? cancel(settings, opening, client.threadId) : Promise.resolve();
    closing ??= cancelled.then(link.end);
    fail(new Error("The connection is closed."));
    return closing;
  }

  /** Waits for news. @throws SourceFailed if there are none for so long. */
  const news = (withinMs: number) =>
    new Promise<void>((resolve, reject) => {
      const late = () => reject(new SourceFailed(undefined, "the server is too slow."));
      const timeout = setTimeout(late, withinMs);
      wake = () => {
        clearTimeout(timeout);
        resolve();
      };
    });

  async function* rows(
    statement: string,
    described: (columns: readonly FieldPacket[]) => void = () => {},
  ): AsyncGenerator<Values[]> {
    let page: Values[] = [];
    let size = 0;
    let hasBegun = false;
    const isFull = () => page.length >= PAGE_ROWS || size >= PAGE_SIZE;
    try {
      if (failure) throw failure;
      isRunning = true;
      // Bytes: a value of any type is text, and nothing is computed from it.
      const query = client.query({ sql: statement, rowsAsArray: true, typeCast: false });
      query.on("error", fail).on("fields", (columns) => described([columns ?? []].flat()));
      query.on("end", () => {
        isRunning = false;
        wake();
      });
      query.on("result", (row: unknown) => {
        link.hasMoved();
        if (!Array.isArray(row)) return;
        const values = row.map((value: Buffer | null) => value?.toString("utf8") ?? null);
        page.push(values);
        size += values.reduce((sum, value) => sum + (value?.length ?? 0), 0);
        hasBegun = true;
        if (!isFull()) return;
        client.pause();
        wake();
      });
      for (;;) {
        while (isRunning && !failure && !isFull()) {
          await news(hasBegun ? LONGEST_PAGE_MS : LONGEST_SEARCH_MS);
        }
        if (failure) throw failure;
        const found = page;
        page = [];
        size = 0;
        if (found.length > 0) yield found;
        else if (!isRunning) return;
        client.resume();
      }
    } catch (error) {
      throw errorFor(error, signal);
    } finally {
      if (isRunning) await close();
    }
  }

  const session = {
    async columns(statement: string): Promise<readonly FieldPacket[]> {
      const found: FieldPacket[] = [];
      const described = rows(statement, (columns) => void found.push(...columns));
      for await (const _none of described);
      return found;
    },
    /** The rows of a statement, as texts. If they are left half-way, the statement is cancelled. */
    rows: (statement: string) => rows(statement),
    isUsable: () => failure === undefined,
    close,
  };
  try {
    for (const statement of PREPARATION) await session.columns(statement);
    return session;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Connects and logs in. @throws what its failure means. */
async function connect(settings: MysqlSettings, { signal, outbound }: Opening) {
  const { createConnection } = await import("mysql2").catch((error: unknown) => {
    throw new SourceUnfit(
      `Reading MySQL needs the optional package mysql2, which is not installed here: ${installationOf("mysql2")}`,
      error,
    );
  });
  const address = addressIn(settings.url) as Address;
  const { host, port } = address;
  const socket = await outbound.connect(host, port, signal).catch((error: unknown) => {
    throw errorFor(error, signal);
  });
  // The certificate must be for the host, which may be an address as well.
  Object.assign(socket, { _host: host }).setKeepAlive(true, KEEP_ALIVE_MS).setNoDelay(true);
  const { tls = "verified", ca } = settings;
  const client = createConnection({
    ...address,
    stream: socket,
    connectTimeout: CONNECT_MS,
    ...(tls === "verified" && {
      ssl: { verifyIdentity: true, minVersion: "TLSv1.2", ...(ca !== undefined && { ca }) },
    }),
    // A server must not ask for files of ours, and its names must not become code.
    flags: ["-LOCAL_FILES"],
    disableEval: true,
    connectAttributes: { program_name: "rapport" },
  });
  let received = 0;
  const measure = (chunk: Buffer) => {
    received += chunk.length;
    if (received <= LARGEST_ROW_BYTES) return;
    socket.destroy(new SourceFailed(undefined, "the server sends more than was asked for."));
  };
  const end = () => {
    client.destroy();
    socket.destroy();
  };
  // The client would print a line for each packet of a server that confuses their order.
  client.on("warn", (error) => {
    client.pause();
    socket.destroy(error);
  });
  signal.addEventListener("abort", end, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      client.on("error", reject).once("connect", () => resolve());
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      socket.on("data", measure);
    });
    // On an encrypted connection the socket has been replaced.
    const { stream } = client as unknown as { readonly stream: Socket };
    if (stream !== socket) stream.on("data", measure);
  } catch (error) {
    end();
    throw errorFor(error, signal);
  } finally {
    signal.removeEventListener("abort", end);
  }
  return {
    client,
    /** The next packet is counted as a new row. */
    hasMoved: () => {
      received = 0;
    },
    end,
  };
}

/** Stops a statement: a server goes on with it after its connection is closed. It may have ended already. */
async function cancel(
  settings: MysqlSettings,
  { outbound }: Opening,
  threadId: number,
): Promise<void> {
  const signal = AbortSignal.timeout(CANCEL_MS);
  try {
    const { client, end } = await connect(settings, { outbound, signal });
    signal.addEventListener("abort", end, { once: true });
    await new Promise<void>((resolve) => client.query(`kill query ${threadId}`, () => resolve()));
    end();
  } catch {
    // The reason why it is stopped matters more.
  }
}

/* The client's names of its own errors. */
const NO_TLS = /^HANDSHAKE_NO_SSL_SUPPORT$/;
const BAD_TLS = /^HANDSHAKE_SSL_ERROR$/;
const BAD_LOGIN = /^(?:AUTH_SWITCH_PLUGIN_ERROR|MYSQL_CLEAR_PASSWORD_NOT_ENABLED)$/;

/** Errors of the login: user, host, database, password, plugin, TLS that the user needs, too many of its connections. */
const LOGIN = [
  1044, 1045, 1049, 1130, 1131, 1132, 1133, 1251, 1275, 1524, 1698, 1820, 1862, 3118, 3159, 4151,
];

/** A right on a table, on a column, or to look at a view. */
const NO_RIGHT = [1142, 1143, 1345];

/** The user's quota of an hour is used up. */
const QUOTA = 1226;

/** Classes of SQLSTATE that a statement is to blame for: names and syntax, and a table without its database. */
const UNFIT = /^(?:42|3D)/;

/** A view whose tables no longer exist. */
const BROKEN_VIEW = 1356;

function errorFor(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof SourceFailed || error instanceof SourceUnfit) return error;
  if (error instanceof OutboundRefused) return new ConnectionUnfit(error.message, error);
  const { code = "", errno = 0, sqlState = "", message: whole = "" } = error as QueryError;
  const message = whole.slice(0, 500);
  if (NO_TLS.test(code)) {
    const text =
      "The server has no TLS. Set it up there; or set 'tls' to off, if the network in between is your own.";
    return new ConnectionUnfit(text, error);
  }
  if (BAD_TLS.test(code) && /certificate|self.signed|altname|issuer/i.test(message)) {
    const text = `The server's certificate is refused: ${message}. 'ca' takes the authority that signed it.`;
    return new ConnectionUnfit(text, error);
  }
  if (BAD_LOGIN.test(code)) {
    const text =
      "The server asks for another way to log in than with a password that stays secret.";
    return new ConnectionUnfit(text, error);
  }
  if (LOGIN.includes(errno)) return new ConnectionUnfit(`The server refuses: ${message}.`, error);
  if (NO_RIGHT.includes(errno)) {
    return new SourceUnfit("The warehouse refuses: the user may not select from the table.", error);
  }
  if (errno === QUOTA) {
    return new SourceFailed(error, "The user's quota on the server is used up.");
  }
  if (errno === BROKEN_VIEW || UNFIT.test(sqlState)) {
    return new SourceUnfit(`The warehouse refuses: ${message}.`, error);
  }
  // A sentence of the client or the network has no SQLSTATE, and quotes no rows.
  return new SourceFailed(error, sqlState ? withoutValues(message) : undefined);
}
