/*
 * Enough of Snowflake's SQL API to read tables: statements with a key pair's token, their state,
 * and their result in partitions. From its public reference ("Snowflake SQL API reference",
 * "Authenticating to the server", "Handling responses"); the error codes are those that users quote
 * in public.
 */
import { createHash, createPublicKey, createVerify, generateKeyPairSync } from "node:crypto";
import { type FakeEngine, openFakeEngine, paged, type Table } from "./engine.ts";
import { type Asked, type FakeServer, type Reply, serveFake } from "./http.ts";

export interface FakeSnowflake extends FakeServer {
  readonly engine: FakeEngine;
  /** The contents of a login, without a table. */
  readonly settings: Readonly<Record<string, string>>;
  /** How often a statement is still running when it is looked at. */
  looks: number;
  pageRows: number;
}

const MACROS = [
  "create type timestamp_tz as timestamptz",
  "create type timestamp_ntz as timestamp",
  "create macro convert_timezone(zone, t) as timezone(zone, t)",
  `create macro to_char(t, f) as if(f = 'YYYY-MM-DD"T"HH24:MI:SS.FF6"Z"', strftime(t, '%Y-%m-%dT%H:%M:%S.%fZ'), error(f))`,
  "create macro to_variant(v) as v",
  "create macro octet_length(t) as strlen(t)",
];

/** The columns of SHOW TERSE OBJECTS, with a view of the system among the tables. */
const OBJECTS = `select '2026-01-01' as created_on, name, 'TABLE' as kind, database_name, schema_name
  from (select table_name as name, database_name, schema_name from duckdb_tables()
    union all values ('TABLES', 'CRM', 'INFORMATION_SCHEMA'))
  order by database_name, schema_name, name`;

const ACCOUNT = "acme-analytics";
const USER = "rapport_reader";

export async function startSnowflake(): Promise<FakeSnowflake> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const private_key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const engine = await openFakeEngine(MACROS, (statement) =>
    statement.startsWith("show terse objects in account") ? OBJECTS : statement,
  );
  const results = new Map<string, { table: Table; looks: number }>();
  const key = publicKey.export({ type: "spki", format: "pem" }).toString();

  async function answer(asked: Asked): Promise<Reply> {
    if (!isSigned(asked, key)) return refuse(401, "390144", "JWT token is invalid.");
    const { pathname, searchParams } = new URL(asked.path, "http://snowflake");
    if (asked.method === "POST" && pathname === "/api/v2/statements") {
      return start(JSON.parse(asked.body));
    }
    const [, handle = "", isCancel] =
      /^\/api\/v2\/statements\/([\w-]+)(\/cancel)?$/.exec(pathname) ?? [];
    const result = results.get(handle);
    if (!result) return refuse(404, "390404", "Not found");
    if (isCancel) return { body: { code: "000604", message: "canceled" } };
    if (result.looks-- > 0) return running(handle);
    return resultOf(handle, result.table, Number(searchParams.get("partition") ?? 0));
  }

  async function start({ statement, warehouse }: { statement: string; warehouse: string }) {
    if (warehouse !== "loading") {
      return refuse(422, "000606", "No active warehouse selected in the current session.", "57P03");
    }
    try {
      const table = await engine.query(statement);
      const handle = `01b-${results.size}`;
      results.set(handle, { table, looks: fake.looks });
      return running(handle);
    } catch (error) {
      const { message } = error as Error;
      if (/Table.*does not exist/s.test(message)) {
        const text = "SQL compilation error:\nObject 'USERS' does not exist or not authorized.";
        return refuse(422, "002003", text, "02000");
      }
      return refuse(422, "000904", `SQL compilation error:\n${message.split("\n")[0]}`, "42000");
    }
  }

  function resultOf(handle: string, table: Table, partition: number): Reply {
    const parts = paged(table.rows, fake.pageRows);
    const data = parts[partition] ?? [];
    if (partition > 0) return { isPacked: true, body: { data } };
    return {
      body: {
        resultSetMetaData: {
          numRows: table.rows.length,
          format: "jsonv2",
          partitionInfo: (parts.length > 0 ? parts : [[]]).map(({ length: rowCount }) => ({
            rowCount,
            uncompressedSize: 1,
          })),
          rowType: table.columns.map(typeOf),
        },
        data,
        code: "090001",
        statementStatusUrl: `/api/v2/statements/${handle}`,
        statementHandle: handle,
        message: "Statement executed successfully.",
      },
    };
  }

  const server = await serveFake(answer);
  const settings = {
    type: "snowflake",
    account: ACCOUNT,
    user: USER,
    private_key,
    warehouse: "loading",
    role: "rapport",
    endpoint: server.url,
  };
  const fake: FakeSnowflake = { ...server, engine, settings, looks: 1, pageRows: 100 };
  return fake;
}

const running = (statementHandle: string): Reply => ({
  status: 202,
  body: { code: "333334", message: "Asynchronous execution in progress.", statementHandle },
});

const refuse = (status: number, code: string, message: string, sqlState?: string): Reply => ({
  status,
  body: { code, message, ...(sqlState && { sqlState }) },
});

function isSigned({ headers }: Asked, key: string): boolean {
  if (headers["x-snowflake-authorization-token-type"] !== "KEYPAIR_JWT") return false;
  const [head = "", body = "", signature = ""] = (headers.authorization ?? "")
    .replace("Bearer ", "")
    .split(".");
  if (!createVerify("RSA-SHA256").update(`${head}.${body}`).verify(key, signature, "base64url")) {
    return false;
  }
  const claims = JSON.parse(Buffer.from(body, "base64url").toString());
  const der = createPublicKey(key).export({ type: "spki", format: "der" });
  const print = `SHA256:${createHash("sha256").update(der).digest("base64")}`;
  const name = `${ACCOUNT}.${USER}`.toUpperCase();
  const lives = claims.exp - claims.iat <= 3_600 && claims.exp * 1_000 > Date.now();
  return lives && claims.sub === name && claims.iss === `${name}.${print}`;
}

function typeOf({ name, type }: Table["columns"][number]) {
  const [, scale] = /^DECIMAL\(\d+,(\d+)\)$/.exec(type) ?? [];
  const found = TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? "text";
  return {
    name,
    type: found,
    scale: found === "fixed" ? Number(scale ?? 0) : null,
    nullable: true,
  };
}

const TYPES: readonly [RegExp, string][] = [
  [/^TIMESTAMP WITH TIME ZONE$/, "timestamp_ltz"],
  [/^TIMESTAMP/, "timestamp_ntz"],
  [/^DATE$/, "date"],
  [/\[\]$/, "array"],
  [/^STRUCT/, "object"],
  [/^MAP/, "map"],
  [/^JSON$/, "variant"],
  [/INT(?:EGER)?$|^DECIMAL/, "fixed"],
  [/^(?:DOUBLE|FLOAT)$/, "real"],
  [/^BOOLEAN$/, "boolean"],
  [/^BLOB$/, "binary"],
];
