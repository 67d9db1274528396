/*
 * Enough of BigQuery's REST interface to read tables: datasets.list, tables.list, tables.get, jobs.query and
 * jobs.getQueryResults, and the exchange of a service account's signed claims for a token. From the public reference of the interface (REST resources jobs and
 * tables, "Error messages") and "Using OAuth 2.0 for server to server applications".
 */
import { createVerify, generateKeyPairSync } from "node:crypto";
import { type FakeEngine, openFakeEngine, type Table, withQuotes } from "./engine.ts";
import { type Asked, type FakeServer, type Reply, serveFake } from "./http.ts";

export interface FakeBigQuery extends FakeServer {
  readonly engine: FakeEngine;
  readonly settings: Readonly<Record<string, string>>;
  /** How often a job is still running when it is looked at. */
  looks: number;
  pageRows: number;
  /** Further members of a table's description, by its name. */
  readonly partitioned: Map<string, PartitionedTable>;
  /** Makes all tokens worthless. */
  expireTokens(): void;
}

interface PartitionedTable {
  readonly requirePartitionFilter: boolean;
  readonly timePartitioning: { readonly type: "DAY"; readonly field?: string };
}

const MACROS = [
  "create schema crm",
  "create macro format_timestamp(f, t, z) as if(f = '%Y-%m-%dT%H:%M:%E6SZ', strftime(timezone(z, t), '%Y-%m-%dT%H:%M:%S.%fZ'), error(f))",
  "create macro format_datetime(f, t) as if(f = '%Y-%m-%dT%H:%M:%E6SZ', strftime(t, '%Y-%m-%dT%H:%M:%S.%fZ'), error(f))",
  "create macro to_json_string(v) as exact_json(v)",
  "create macro byte_length(t) as strlen(t)",
];

const PROJECT = "acme-analytics";
const EMAIL = "rapport@acme-analytics.iam.gserviceaccount.com";
const API = `/bigquery/v2/projects/${PROJECT}`;

export async function startBigQuery(): Promise<FakeBigQuery> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const engine = await openFakeEngine(MACROS, (statement) =>
    withQuotes(statement).replaceAll(`"${PROJECT}".`, ""),
  );
  const jobs = new Map<string, { table: Table; looks: number }>();
  const partitioned = new Map<string, PartitionedTable>();
  const key = publicKey.export({ type: "spki", format: "pem" }).toString();
  let tokens = 0;
  let token = "";

  async function answer(asked: Asked): Promise<Reply> {
    const { pathname, searchParams } = new URL(asked.path, "http://bigquery");
    if (pathname === "/token") return giveToken(asked.body);
    if (asked.headers.authorization !== `Bearer ${token}` || token === "") {
      return refuse(401, "authError", "Request had invalid authentication credentials.");
    }
    if (pathname === `${API}/datasets`) {
      return {
        body: { datasets: [{ datasetReference: { projectId: PROJECT, datasetId: "crm" } }] },
      };
    }
    if (pathname === `${API}/datasets/crm/tables`) return listTables();
    const [, name] = /\/datasets\/crm\/tables\/([^/]+)$/.exec(pathname) ?? [];
    if (name) return describe(decodeURIComponent(name));
    if (pathname === `${API}/queries`) return start(JSON.parse(asked.body));
    if (/\/cancel$/.test(pathname)) return { body: {} };
    const job = pathname.slice(`${API}/queries/`.length);
    return pageOf(job, Number(searchParams.get("pageToken")?.slice("from-".length) ?? 0));
  }

  function giveToken(body: string): Reply {
    const form = new URLSearchParams(body);
    const [head = "", claims = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const { iss, exp, iat } = JSON.parse(Buffer.from(claims, "base64url").toString());
    const isGood =
      form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
      createVerify("RSA-SHA256").update(`${head}.${claims}`).verify(key, signature, "base64url") &&
      iss === EMAIL &&
      exp - iat <= 3_600;
    if (!isGood) {
      return { status: 400, body: { error: "invalid_grant", error_description: "Invalid JWT." } };
    }
    token = `ya29.${++tokens}`;
    return { body: { access_token: token, expires_in: 3_599, token_type: "Bearer" } };
  }

  async function listTables(): Promise<Reply> {
    const { rows } = await engine.query(
      "select table_name from information_schema.tables where table_schema = 'crm'",
    );
    const tables = rows.map(([tableId]) => ({
      id: `${PROJECT}:crm.${tableId}`,
      tableReference: { projectId: PROJECT, datasetId: "crm", tableId },
    }));
    return { body: { tables, totalItems: tables.length } };
  }

  async function describe(name: string): Promise<Reply> {
    try {
      const { columns } = await engine.query(`select * from crm.\`${name}\` limit 0`);
      const fields = columns.filter((each) => each.name !== "_PARTITIONTIME").map(fieldOf);
      return { body: { schema: { fields }, type: "TABLE", ...partitioned.get(name) } };
    } catch {
      return refuse(404, "notFound", `Not found: Table ${PROJECT}:crm.${name}`);
    }
  }

  async function start({ query, useLegacySql }: { query: string; useLegacySql: boolean }) {
    if (useLegacySql) return refuse(400, "invalid", "Legacy SQL");
    for (const [name, { timePartitioning }] of partitioned) {
      const field = timePartitioning.field ?? "_PARTITIONTIME";
      if (query.includes(`\`${name}\``) && !new RegExp(`${field}\`? (?:>=|is null)`).test(query)) {
        const text = `Cannot query over table '${name}' without a filter over column(s) '${field}'`;
        return refuse(400, "invalidQuery", text);
      }
    }
    try {
      const job = `job_${jobs.size}`;
      jobs.set(job, { table: await engine.query(query), looks: fake.looks });
      return pageOf(job, 0);
    } catch (error) {
      return refuse(400, "invalidQuery", (error as Error).message);
    }
  }

  function pageOf(jobId: string, from: number): Reply {
    const job = jobs.get(jobId);
    if (!job) return refuse(404, "notFound", `Not found: Job ${jobId}`);
    const jobReference = { projectId: PROJECT, jobId, location: "EU" };
    if (job.looks-- > 0) return { body: { jobComplete: false, jobReference } };
    const { rows, columns } = job.table;
    const page = rows.slice(from, from + fake.pageRows);
    const next = from + fake.pageRows;
    return {
      body: {
        jobComplete: true,
        jobReference,
        schema: { fields: columns.map(fieldOf) },
        totalRows: `${rows.length}`,
        totalBytesProcessed: from === 0 ? `${rows.length * 100}` : undefined,
        ...(next < rows.length && { pageToken: `from-${next}` }),
        ...(page.length > 0 && { rows: page.map((row) => ({ f: row.map((v) => ({ v })) })) }),
      },
    };
  }

  const server = await serveFake(answer);
  const credentials = JSON.stringify({
    type: "service_account",
    project_id: PROJECT,
    private_key_id: "key-1",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    client_email: EMAIL,
    token_uri: `${server.url}/token`,
  });
  const settings = { type: "bigquery", project: PROJECT, credentials, endpoint: server.url };
  const fake: FakeBigQuery = {
    ...server,
    engine,
    settings,
    looks: 1,
    pageRows: 100,
    partitioned,
    expireTokens: () => {
      token = "";
    },
  };
  return fake;
}

const refuse = (status: number, reason: string, message: string): Reply => ({
  status,
  body: { error: { code: status, message, errors: [{ reason, message }], status: "" } },
});

function fieldOf({ name, type }: Table["columns"][number]) {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  const found = TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? "STRING";
  return {
    name,
    type: found,
    mode: type.endsWith("[]") ? "REPEATED" : "NULLABLE",
    ...(precision && { precision }),
    ...(scale && scale !== "0" && { scale }),
  };
}

const TYPES: readonly [RegExp, string][] = [
  [/^TIMESTAMP WITH TIME ZONE$/, "TIMESTAMP"],
  [/^TIMESTAMP/, "DATETIME"],
  [/^DATE$/, "DATE"],
  [/^STRUCT/, "RECORD"],
  [/^JSON$/, "JSON"],
  [/^DECIMAL/, "NUMERIC"],
  [/INT(?:EGER)?(?:\[\])?$/, "INTEGER"],
  [/^(?:DOUBLE|FLOAT)$/, "FLOAT"],
  [/^BOOLEAN$/, "BOOLEAN"],
  [/^BLOB$/, "BYTES"],
];
