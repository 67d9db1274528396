import { createHash, createPublicKey, type KeyObject, randomUUID } from "node:crypto";
import Type, { type Static, type TObject } from "typebox";
import { patterned, Text } from "../../../core/base/values/schemas.ts";
import { ConnectionUnfit, SourceUnfit } from "../../../core/outbound/unfit.ts";
import { spelled, TableName } from "./list-tables.ts";
import { firstTables, type Opening, SourceFailed, sourceKind } from "./source.ts";
import {
  countIn,
  type Dialect,
  firstRows,
  sqlSource,
  type Values,
  type WarehouseColumn,
} from "./sql-table.ts";
import {
  baseOf,
  createClient,
  endpointSetting,
  hostAndPortOf,
  partsOf,
  privateKeyOf,
  signToken,
  type WarehouseClient,
} from "./warehouse-client.ts";

/*
 * A table of Snowflake, over its SQL API (POST /api/v2/statements; a result in partitions) with a key pair. Why not its
 * client: docs/decisions/warehouse-clients.md
 */

const NAME = '(?:[A-Za-z_][A-Za-z0-9_$]*|"(?:[^"\\u0000]|"")+")';

const TABLE = new RegExp(`^${NAME}(?:\\.${NAME}){0,2}$`);

const connection = {
  account: Text("The account identifier, such as acme-analytics.", "acme-analytics", {
    ...patterned(
      "^[A-Za-z0-9][A-Za-z0-9._-]{0,253}$",
      "must be an account identifier, such as acme-analytics, and no address",
    ),
  }),
  user: Text("The user that reads.", "rapport_reader", { minLength: 1, maxLength: 255 }),
  private_key: Type.String({
    minLength: 1,
    maxLength: 16_384,
    description: "The private key of the user, as a PEM block.",
  }),
  private_key_passphrase: Type.Optional(
    Type.String({ maxLength: 1_024, description: "The passphrase of the key, if it has one." }),
  ),
  warehouse: Type.Optional(
    Text("The warehouse that computes; by default the user's.", "loading", { maxLength: 255 }),
  ),
  role: Type.Optional(
    Text("The role that reads; by default the user's.", "rapport", { maxLength: 255 }),
  ),
  endpoint: endpointSetting,
};

type Settings = Static<TObject<typeof connection>>;

const place = { table: TableName(TABLE, 800, "crm.public.users", "quoted if it needs quotes") };

const addressOf = ({ endpoint, account = "" }: Settings): string =>
  baseOf(endpoint, `${account.toLowerCase().replaceAll("_", "-")}.snowflakecomputing.com`);

export const snowflakeSource = sourceKind({
  type: "snowflake",
  label: "Snowflake",
  connection,
  place,
  secrets: ["private_key", "private_key_passphrase"],
  free: ["private_key", "private_key_passphrase", "warehouse", "role"],
  placeOf: ({ table }) => table,
  hostsOf: (warehouse) => [hostAndPortOf(addressOf(warehouse))],

  async open(warehouse, opening) {
    const { table } = warehouse;
    const statements = createStatements(warehouse, opening);
    const { columns } = await statements.run(`select * from ${table} limit 0`);
    return sqlSource({ dialect: DIALECT, table, columns, run: statements.run }, statements);
  },

  // In the order of their names; it needs neither a current database nor a running warehouse.
  async list(settings, opening) {
    const { columns, ...found } = await createStatements(settings, opening).run(OBJECTS);
    const names = columns.map(({ name }) => name.toLowerCase());
    const parts = ["database_name", "schema_name", "name"].map((part) => names.indexOf(part));
    const rows = await firstRows(found, MOST_OBJECTS);
    const tables = rows
      .map((row) => parts.map((part) => `${row[part]}`))
      .filter(
        ([database, schema = ""]) =>
          database !== "SNOWFLAKE" && !/^information_schema$/i.test(schema),
      )
      .map((table) => spelled(table, { ...DIALECT, plain: /^[A-Z_][A-Z0-9_$]*$/ }));
    return firstTables(tables, rows.length >= MOST_OBJECTS);
  },
});

/** As many as the statement gives: some of them are the system's. */
const MOST_OBJECTS = 10_000;

/** Tables and views that the role may use. */
const OBJECTS = `show terse objects in account limit ${MOST_OBJECTS}`;

/** The types of instants; the others have no zone. */
const TIMES = {
  timestamp_ltz: "zoned",
  timestamp_tz: "zoned",
  timestamp_ntz: "local",
  date: "date",
} as const;

const NESTED = ["variant", "object", "array", "map"];

interface SnowflakeType {
  readonly name: string;
  readonly type: string;
  readonly scale?: number | null;
}

function columnOf({ name, type, scale }: SnowflakeType): WarehouseColumn {
  const time = TIMES[type.toLowerCase() as keyof typeof TIMES];
  const isWhole = type.toLowerCase() === "fixed" && !scale;
  return {
    name,
    isTime: time !== undefined,
    isText: type.toLowerCase() === "text" || isWhole,
    isNested: NESTED.includes(type.toLowerCase()),
    ...(time && { time }),
  };
}

const DIALECT: Dialect = {
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  literal: (time, kind) => {
    if (kind === "date") return `'${time}'::date`;
    const text = time.slice(0, -1);
    return kind === "zoned" ? `'${text}+00:00'::timestamp_tz` : `'${text}'::timestamp_ntz`;
  },
  timeText: (column, kind) =>
    `to_char(${kind === "zoned" ? `convert_timezone('UTC', ${column})` : `${column}::timestamp_ntz`}, 'YYYY-MM-DD"T"HH24:MI:SS.FF6"Z"')`,
  readTime: (text) => text,
  text: (column, { isNested }) =>
    isNested ? `to_json(to_variant(${column}))` : `${column}::varchar`,
  bytes: (text) => `octet_length(${text})`,
};

/** For how many seconds a token is good: Snowflake takes an hour at most. */
const TOKEN_SECONDS = 3_000;

/** The headers of a login with a key pair. */
function loginOf({ account, user, private_key, private_key_passphrase }: Settings) {
  const key = privateKeyOf(private_key, private_key_passphrase);
  // A locator has its region behind a dot, which is not part of the name.
  const name = `${account.split(".")[0]}.${user}`.toUpperCase();
  return () => ({
    authorization: `Bearer ${tokenOf(key, name)}`,
    "x-snowflake-authorization-token-type": "KEYPAIR_JWT",
    "user-agent": "rapport/1",
  });
}

function tokenOf(key: KeyObject, name: string): string {
  const now = Math.floor(Date.now() / 1_000);
  const der = createPublicKey(key).export({ type: "spki", format: "der" });
  const fingerprint = `SHA256:${createHash("sha256").update(der).digest("base64")}`;
  const claims = { iss: `${name}.${fingerprint}`, sub: name, iat: now, exp: now + TOKEN_SECONDS };
  return signToken(key, {}, claims);
}

const HOUR_SECONDS = 3_600;

function createStatements(settings: Settings, opening: Opening) {
  const login = loginOf(settings);
  const client = createClient({
    ...opening,
    label: "Snowflake",
    base: addressOf(settings),
    authorize: async () => login(),
    refusal: (status, body) => refusalOf(status, body),
  });
  const { warehouse, role } = settings;
  return {
    async run(statement: string) {
      const sent = { statement, timeout: HOUR_SECONDS, warehouse, role };
      const body = await resultOf(client, JSON.stringify(sent));
      const { resultSetMetaData: about, data, statementHandle: handle } = body;
      if (!about || !isDescribed(about.rowType) || !Array.isArray(data)) throw noResult();
      const count = countIn(about.numRows);
      const [, ...parts] = partsOf(
        (about.partitionInfo ?? [{ rowCount: count }]).map((part) => part?.rowCount),
        count,
      );
      return {
        columns: about.rowType.map(columnOf),
        count,
        async *pages() {
          if (data.length > 0) yield data.splice(0);
          for (const [index, rows] of parts.entries()) {
            if (rows === 0) continue;
            const path = `${STATEMENTS}/${idOf(handle)}?partition=${index + 1}`;
            yield* client.rows(async () => ({ path }), "data", rows);
          }
        },
      };
    },
    close: async () => {},
  };
}

const STATEMENTS = "/api/v2/statements";

const noResult = () => new SourceFailed(undefined, "Snowflake sent no result.");

const isDescribed = (columns: unknown): columns is readonly SnowflakeType[] =>
  Array.isArray(columns) &&
  columns.every((each) => typeof each?.name === "string" && typeof each.type === "string");

function idOf(handle: unknown): string {
  if (typeof handle !== "string" || !/^[\w-]{1,100}$/.test(handle)) throw noResult();
  return handle;
}

interface StatementBody {
  readonly statementHandle: string;
  readonly resultSetMetaData: {
    readonly numRows: number;
    readonly rowType: readonly SnowflakeType[];
    readonly partitionInfo?: readonly { readonly rowCount: number }[];
  };
  /** The first partition. */
  readonly data: Values[];
}

/** Sends a statement, and waits until its result is there. */
async function resultOf(client: WarehouseClient, body: string): Promise<Partial<StatementBody>> {
  const started = await client.json<StatementBody>({
    method: "POST",
    path: `${STATEMENTS}?requestId=${randomUUID()}&async=true`,
    headers: { "content-type": "application/json" },
    body,
  });
  if (started.status !== 202) return started.body;
  const path = `${STATEMENTS}/${idOf(started.body.statementHandle)}`;
  return client.wait(
    async () => {
      const { status, body: found } = await client.json<StatementBody>({ path });
      return status === 202 ? undefined : found;
    },
    { method: "POST", path: `${path}/cancel` },
  );
}

/** Codes of messages about warehouses: none is chosen or it is suspended; it may not be resumed, because a quota is used up. */
const NO_WAREHOUSE = "000606";
const QUOTA = "090073";

/** Classes of SQLSTATE that a statement is to blame for: syntax, names and rights, data. */
const UNFIT = /^(?:42|02|22)/;

function refusalOf(status: number, body: string): Error {
  const { code = "", message = "", sqlState = "" } = parsed(body);
  const cause = new Error(`${status} ${code} ${sqlState}: ${message}`.slice(0, 1_000));
  if (status === 401 || status === 403) {
    const text = `Snowflake refuses the login (status ${status}). Check account, user and key.`;
    return new ConnectionUnfit(text, cause);
  }
  if (code === NO_WAREHOUSE) {
    const text =
      "Snowflake has no active warehouse for the statement: it is suspended without auto-resume, or the role may not use it.";
    return new SourceFailed(cause, text);
  }
  if (code === QUOTA || /quota|resource monitor/i.test(message)) {
    return new SourceFailed(
      cause,
      "Snowflake's quota is used up: its warehouse cannot be resumed.",
    );
  }
  if (status === 422 && UNFIT.test(sqlState)) {
    return new SourceUnfit(`The warehouse refuses: ${firstLines(message)}`, cause);
  }
  return new SourceFailed(
    cause,
    `Snowflake refused the statement (status ${status}, code ${code || "unknown"}).`,
  );
}

function parsed(body: string): { code?: string; message?: string; sqlState?: string } {
  try {
    const { code, message, sqlState } = JSON.parse(body);
    return { code: String(code), message: String(message), sqlState: String(sqlState) };
  } catch {
    return {};
  }
}

/** Snowflake says on the first line that compiling failed, and on the second why. */
const firstLines = (message: string): string =>
  message.split("\n").slice(0, 2).join(" ").slice(0, 500);
