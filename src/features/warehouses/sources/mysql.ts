import type { FieldPacket } from "mysql2";
import Type from "typebox";
import { patterned } from "../../../core/base/values/schemas.ts";
import { TableName, tablesOf } from "./list-tables.ts";
import { addressIn, openSession, PORT } from "./mysql-session.ts";
import { sourceKind, TABLES_LIMIT } from "./source.ts";
import { type Dialect, sqlSource, type WarehouseColumn } from "./sql-table.ts";

/* A table of MySQL 8 or MariaDB. How it is reached: mysql-session.ts */

const NAME = "(?:[A-Za-z_$][A-Za-z0-9_$]*|`(?:[^`\\u0000]|``)+`)";

const TABLE = new RegExp(`^${NAME}(?:\\.${NAME})?$`);

const connection = {
  url: Type.Refine(
    Type.String({ maxLength: 2_048, description: "mysql://user:password@host:port/database" }),
    (url) => addressIn(url) !== undefined,
    () => "must be mysql://user:password@host:port/database, without anything behind it",
  ),
  tls: Type.Optional(
    Type.Enum(["verified", "off"], {
      description:
        "verified (the default): encrypted, and the certificate must be for the host. off: neither.",
      examples: ["verified"],
    }),
  ),
  ca: Type.Optional(
    Type.String({
      maxLength: 262_144,
      ...patterned("^\\s*-----BEGIN CERTIFICATE-----", "must be a certificate in PEM"),
      description: "The authority that signed the certificate, as PEM blocks, if it is not public.",
      examples: ["-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----"],
    }),
  ),
};

const place = { table: TableName(TABLE, 255, "crm.users", "with backticks if it needs them") };

export const mysqlSource = sourceKind({
  type: "mysql",
  label: "MySQL or MariaDB",
  connection,
  place,
  secrets: ["url"],
  placeOf: ({ table }) => table,
  hostsOf: ({ url }) => {
    const { host = "", port = PORT } = addressIn(url) ?? {};
    return [{ host, port }];
  },

  async open({ table, ...settings }, opening) {
    let session = await openSession(settings, opening);
    try {
      const columns = (await session.columns(`select * from ${table} limit 0`)).map(columnOf);
      const run = async (statement: string) => ({
        count: undefined,
        async *pages() {
          // The rows of the last statement were left half-way: its connection is closed.
          if (!session.isUsable()) session = await openSession(settings, opening);
          yield* session.rows(statement);
        },
      });
      const close = () => session.close();
      return sqlSource({ dialect: DIALECT, table, columns, run }, { close });
    } catch (error) {
      await session.close();
      throw error;
    }
  },

  async list(settings, opening) {
    const session = await openSession(settings, opening);
    try {
      const found = { count: undefined, pages: () => session.rows(TABLES) };
      return await tablesOf(found, { ...DIALECT, plain: /^[A-Za-z_$][A-Za-z0-9_$]*$/ });
    } finally {
      await session.close();
    }
  },
});

/** What the user may see, without the tables of the system. */
const TABLES = `select table_schema, table_name from information_schema.tables
  where table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys')
  order by table_schema, table_name limit ${TABLES_LIMIT}`;

/* Numbers of types and of character sets in the protocol. */
const TIMES: Readonly<Record<number, "zoned" | "local" | "date">> = {
  7: "zoned",
  12: "local",
  10: "date",
};
const TINY = 1;
/** Integers of 16, 32, 64 and 24 bits, and years. */
const WHOLE = [2, 3, 8, 9, 13];
const DECIMAL = 246;
const JSON_TYPE = 245;
/** Texts of any length, ENUM and SET: and, with the character set of bytes, binary values. */
const TEXT = [15, 247, 248, 249, 250, 251, 252, 253, 254];
const BYTES = 63;

function columnOf(column: FieldPacket): WarehouseColumn {
  const { name, columnType: type = -1, characterSet, columnLength, decimals } = column;
  const time = TIMES[type];
  // MariaDB's error for a text with a check.
  const isNested = type === JSON_TYPE || column.extendedFormat === "json";
  // A TINYINT(1) is how a BOOLEAN is declared.
  const isWhole =
    WHOLE.includes(type) ||
    (type === TINY && columnLength !== 1) ||
    (type === DECIMAL && decimals === 0);
  return {
    name,
    isTime: time !== undefined,
    isText: !isNested && (isWhole || (TEXT.includes(type) && characterSet !== BYTES)),
    isNested,
    ...(time && { time }),
  };
}

const DIALECT: Dialect = {
  quote: (name) => `\`${name.replaceAll("`", "``")}\``,
  // The session is in UTC, so that a TIMESTAMP compares and reads as UTC, and a DATETIME unchanged.
  literal: (time, kind) =>
    kind === "date" ? `date '${time}'` : `timestamp '${time.slice(0, -1).replace("T", " ")}'`,
  timeText: (column) => `date_format(${column}, '%Y-%m-%dT%H:%i:%s.%fZ')`,
  // A server may hold dates without a month or a day: the first instant that they can mean keeps their order.
  readTime: (text) =>
    text
      .replace(/^(\d{4})-00-.*/, "$1-01-01T00:00:00.000000Z")
      .replace(/^(\d{4}-\d\d)-00T.*/, "$1-01T00:00:00.000000Z"),
  text: (column) => `cast(${column} as char)`,
  bytes: (text) => `octet_length(${text})`,
};
