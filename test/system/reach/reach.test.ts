/*
 * The reach of a person who has every permission in a workspace and none in the company. Every
 * field that names a place (a host, a folder, a file, a database, a connection, a workspace) is
 * found in the declarations of the endpoints, and each has a case: only the caller's places are
 * reached, the attempt is in the audit log, and no response says whether the place exists. A field
 * with a new name has to be added to PLACES here, or to `named-fields.ts` if it names no place.
 *
 * Hosts are names below `names.test`, which the test's name server resolves to any address
 * (name-server.ts). A server on loopback, which is not allowed, notices every connection.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Contract, pathsOf } from "../../../src/core/http/endpoint.ts";
import { hostsOf, KINDS } from "../../../src/features/warehouses/sources/kinds.ts";
import { ENGINE } from "../../harness.ts";
import { pathOf, sampleRequests, sampleWorkspace } from "../../sample-requests.ts";
import { oneIn, sized } from "../../sizes.ts";
import { until } from "../../until.ts";
import { startEmbeddedWarehouse } from "../../warehouse.ts";
import {
  declaringBy,
  exportOf,
  integrationOf,
  listedTablesOf,
  movedWebhookOf,
  PATHS,
  segmentOf,
  sourceAt,
  syncMessage,
  webhookOf,
  withText,
} from "./attempts.ts";
import { FIELDS, lastName, NO_PLACES, NO_PLACES_HERE, OPERATIONS } from "./named-fields.ts";
import { bucketIsRefused, narrowsAtMost } from "./places.ts";
import {
  assertNothingReached,
  connection,
  FILES,
  got,
  hostsAreRefused,
  names,
  outside,
  refusals,
  S3,
  sentenceOf,
  server,
  someone,
  storageHost,
  TRAP,
  trapPort,
} from "./scene.ts";

const me = await someone({ ...sampleWorkspace() });
const samples = await sampleRequests(server, me.workspace);

const contractOf = (field: string): Contract =>
  OPERATIONS.find(({ name }) => name === field.split(" ", 1)[0]) as Contract;

/** Browsers of people who open a page load it; the server never does. */
async function isOnlyShown(field: string): Promise<void> {
  const { method, path, access } = contractOf(field);
  const [first = ""] = pathsOf({ path } as Contract);
  const sample = (await samples[`${method} ${first}`]?.()) ?? {};
  const place = (field.split(" body.")[1] ?? "").split(".");
  const texts = [TRAP, `<img src="${TRAP}"><link rel="stylesheet" href="${TRAP}">`];
  for (const text of texts) {
    const body = withText(sample.body, place, text);
    const to = pathOf(first, me.workspace.name, sample);
    const { status } =
      access.by === "key"
        ? await me.workspace.call(method, to, body)
        : await me.call(method, to, body);
    assert.ok(status < 500, `${field}: ${status}`);
  }
}

/** An external entity is nothing that a parser here asks for. */
async function namesNoEntity(field: string): Promise<void> {
  const { method, path, accepts = [] } = contractOf(field);
  const [first = ""] = pathsOf({ path } as Contract);
  const sample = (await samples[`${method} ${first}`]?.()) ?? {};
  const to = pathOf(first, me.workspace.name, sample);
  for (const at of [TRAP, `file://${join(outside, "secret.csv")}`]) {
    const raw = `<!DOCTYPE x [<!ENTITY e SYSTEM "${at}">]><x>&e;</x>`;
    const headers = { ...me.headers, "content-type": accepts[0] ?? "" };
    const answer = await server.send(method, to, undefined, { raw, headers });
    assert.ok(answer.status >= 400 && answer.status < 500, `${field}: ${answer.status}`);
    assert.doesNotMatch(JSON.stringify(answer.body), /stolen|text of the trap/);
  }
}

const methodOf = (field: string): string => contractOf(field).method;

const isPatch = (field: string): boolean => field.startsWith("patch");

/** A setting of a connection cannot be laid over it. */
async function belongsToCompany(field: string): Promise<void> {
  const owner = await someone();
  const name = await connection(owner.workspace.name, FILES);
  const known = { connection: name, url: "in/crm.csv" };
  const laid = { [lastName(field)]: TRAP };
  const wanted = isPatch(field) ? laid : { ...known, ...laid };
  const { status, body } = await declaringBy(field, known)(owner, wanted);
  assert.equal(status, 400, JSON.stringify(body));
}

const PLACES: Readonly<Record<string, (field: string) => Promise<void>>> = {
  "putWebhook body.url": async () => {
    const owner = await someone();
    await hostsAreRefused(owner, "webhook", (url) => webhookOf(owner, url));
  },
  "patchWebhook body.url": async () => {
    const [owner, id] = [await someone(), randomUUID()];
    await hostsAreRefused(owner, "webhook", (url) => movedWebhookOf(owner, url, id));
  },
  "exportSegment body.callback_endpoint": async () => {
    const owner = await someone();
    const id = await segmentOf(owner);
    await hostsAreRefused(owner, "segment_export", (url) =>
      exportOf(owner, id, { callback_endpoint: url }),
    );
  },
  "Settings body.export_bucket.connection": async (field) => {
    const [owner, other] = [await someone(), await someone()];
    const foreign = await connection(other.workspace.name, S3);
    await bucketIsRefused(
      owner,
      [foreign, "nothing"].map((each) => ({ connection: each, url: "s3://crm/out/" })),
      methodOf(field),
    );
  },
  "Settings body.export_bucket.url": async (field) => {
    const owner = await someone();
    const own = await connection(owner.workspace.name, { ...S3, root: "s3://crm/in/" });
    const places = ["s3://crm/out/", "s3://crm/", "s3://other/in/"];
    await bucketIsRefused(
      owner,
      places.map((url) => ({ connection: own, url })),
      methodOf(field),
    );
  },
  "Integration body.warehouse.connection": async (field) => {
    const [owner, other] = [await someone(), await someone()];
    const foreign = await connection(other.workspace.name, FILES);
    const own = await connection(owner.workspace.name, FILES);
    const declare = declaringBy(field, { connection: own, url: "in/crm.csv" });
    const sentences = [];
    for (const name of [foreign, "nothing"]) {
      const answer = await declare(owner, { connection: name, url: "in/crm.csv" });
      sentences.push(sentenceOf(answer, name).replaceAll(name, "NAME"));
    }
    assert.equal(new Set(sentences).size, 1);
    assert.equal((await refusals(owner.workspace, "integration")).length, 2);
  },
  "Integration body.warehouse.url": async (field) => {
    const owner = await someone();
    const name = await connection(owner.workspace.name, FILES);
    const known = { connection: name, url: "in/crm.csv" };
    const declare = declaringBy(field, known);
    const sentences = new Set<string>();
    for (const url of PATHS) {
      sentences.add(await syncMessage(owner, { connection: name, url, format: "csv" }, declare));
    }
    assert.deepEqual(
      [...sentences].sort(),
      [
        "There is no file or folder PLACE in the connection's folder.",
        `The warehouse 'url' must be below the root of the connection '${name}'.`,
      ].sort(),
    );
    assert.ok((await refusals(owner.workspace, "integration")).length >= 8);
    const { users } = (
      await owner.workspace.call<any>("POST", "/users/export/ids", { external_ids: ["mallory"] })
    ).body;
    assert.deepEqual(users, []);
    await belongsToCompany(field);
  },
  "Integration body.warehouse.table": async (field) => {
    const owner = await someone();
    const { url } = await startEmbeddedWarehouse();
    const settings = { type: "postgres", url: url.replace("127.0.0.1", storageHost) };
    const name = await connection(owner.workspace.name, settings);
    const tables = [
      "crm; drop table crm",
      "pg_read_file('/etc/passwd')",
      "dblink('host=127.0.0.1', 'select 1')",
    ];
    const declare = declaringBy(field, { connection: name, table: "crm" });
    for (const table of tables) {
      const { status } = await declare(owner, { connection: name, table });
      assert.equal(status, 400, table);
    }
    await belongsToCompany(field);
  },
  "listSourceTables body.warehouse.url": narrowsAtMost,
  "listSourceTables body.warehouse.table": narrowsAtMost,
  "listSourceTables body.warehouse.format": narrowsAtMost,
  "Integration body.contact_emails": (field) => areAddresses(field),
  "Webhook body.contact_emails": (field) => areAddresses(field),
};

/** A mail goes to addresses through the server of SMTP_URL: a text cannot name another, nor further headers. */
async function areAddresses(field: string): Promise<void> {
  const owner = await someone();
  const name = await connection(owner.workspace.name, FILES);
  const declaration = field.includes("Webhook ")
    ? { name: "CRM", url: "http://8.8.8.8/" }
    : { name: "CRM", type: "attributes", warehouse: { connection: name, url: "in/crm.csv" } };
  for (const contact_emails of [
    "a@b.example\r\nBcc: c@d.example",
    `x@[127.0.0.1]:${trapPort}`,
    "a",
  ]) {
    const path = `${owner.path}/${field.includes("Webhook ") ? "webhooks" : "integrations"}/${randomUUID()}`;
    const { status: first } = await owner.call("PUT", path, { ...declaration, name: path });
    assert.equal(first, 200);
    const body = isPatch(field)
      ? { contact_emails }
      : { ...declaration, name: path, contact_emails };
    const { status } = await owner.call(methodOf(field), path, body);
    assert.equal(status, 400, contact_emails);
  }
}

const OF_WAREHOUSE =
  /^(?:(?:put|patch|test)Integration(?:Change)?|listSourceTables) body\.warehouse\./;

const ONLY_SHOWN = /^(?:href|logo_url|page_image_hosts|redirect_url|.*_html)$/;

function caseOf(field: string): ((field: string) => Promise<void>) | undefined {
  const name = lastName(field);
  // What PUT takes as a whole, PATCH takes in parts.
  const found =
    PLACES[field] ??
    PLACES[
      field
        .replace(/^(?:put|patch|test(?=IntegrationChange))/, "")
        .replace(/^(?:IntegrationChange|listSourceTables) /, "Integration ")
    ];
  if (found) return found;
  if (ONLY_SHOWN.test(name)) return isOnlyShown;
  if (OF_WAREHOUSE.test(field)) return belongsToCompany;
  return name === "body" && field.startsWith("import") ? namesNoEntity : undefined;
}

/** `name` is the workspace in a path; elsewhere it is what the caller calls something. */
const isPlace = (field: string): boolean =>
  !(NO_PLACES.has(lastName(field)) || NO_PLACES_HERE.has(field) || lastName(field) === "name") ||
  OF_WAREHOUSE.test(field);

const ALL = FIELDS.filter(isPlace);

/** What PATCH takes has the checks of what PUT takes, so it is tried in the night; of the others one in three for each change. */
const isTried = oneIn(3);
const TRIED = sized(
  ALL.filter((field) => !isPatch(field)),
  ALL,
).filter(isTried);

/** A kind of each reader of hosts: its own protocol, statements over HTTP, a bucket. */
const KINDS_TRIED = sized(
  KINDS.filter(({ type }) => ["postgres", "snowflake", "s3"].includes(type)),
  KINDS,
);

describe("the reach of a role in a workspace", () => {
  test("every field that names a place has a case", () => {
    assert.deepEqual(
      ALL.filter((field) => caseOf(field) === undefined),
      [],
      "Enter the field in PLACES with a case, or in NO_PLACES of named-fields.ts.",
    );
  });

  for (const field of TRIED) {
    test(`${field} leads to nothing that is not the caller's`, async () => {
      await caseOf(field)?.(field);
      assertNothingReached();
    });
  }

  test("every operation of a workspace refuses the name of another workspace like an unknown name", async () => {
    const other = await server.workspace();
    for (const contract of OPERATIONS.filter(({ access }) => access.by === "administrator")) {
      const [path = ""] = pathsOf(contract);
      const answers = [];
      for (const name of [other.name, "no-such-workspace"]) {
        const to = path.replace(":name", name).replaceAll(/:\w+/g, randomUUID());
        const headers = { ...me.headers, "content-type": "text/nothing" };
        const response = await fetch(server.url + to, { method: contract.method, headers });
        answers.push([response.status, (await response.text()).replaceAll(name, "NAME")]);
      }
      assert.deepEqual(answers[0], answers[1], path);
      assert.ok([403, 404].includes(Number(answers[0]?.[0])), `${path}: ${answers[0]}`);
    }
  });

  for (const { type } of KINDS_TRIED) {
    test(`a source of type ${type} is declared by the company alone`, async () => {
      const owner = await someone();
      const { status, body } = await integrationOf(owner, sourceAt(type, "127.0.0.1"));
      assert.equal(status, 403, JSON.stringify(body));
      const listed = await listedTablesOf(owner, sourceAt(type, "127.0.0.1"));
      assert.equal(listed.status, 403, JSON.stringify(listed.body));
      assert.equal((await refusals(owner.workspace, "integration")).length, 2);
      assertNothingReached();
    });
  }
});

describe("a name that leads elsewhere after it was declared", () => {
  for (const { type, connection: settings } of KINDS_TRIED.filter(
    (kind) => kind.type !== "files",
  )) {
    test(`a connection of type ${type} is not read any more, and the run names no host`, async () => {
      const owner = await someone();
      const host = `moved-${type}.names.test`;
      const looksWhenDeclared = hostsOf({ type, ...sourceAt(type, host) }).map(() => ["8.8.8.8"]);
      names.answer(`moved-${type}`, ...looksWhenDeclared, ["127.0.0.1"]);
      const source = Object.entries(sourceAt(type, host));
      const ofConnection = source.filter(([name]) => name === "type" || name in settings);
      const name = await connection(owner.workspace.name, Object.fromEntries(ofConnection));
      const place = Object.fromEntries(source.filter((each) => !ofConnection.includes(each)));
      const message = await syncMessage(owner, { connection: name, ...place });
      assert.match(
        message,
        /^The connection '[^']+' cannot be used\. The server's log says why\.$/,
      );
      const { body } = await listedTablesOf(owner, { connection: name, ...place });
      assert.deepEqual([body.tables, body.problem], [[], message]);
      assert.equal((await refusals(owner.workspace, "integration")).length, 2);
      assertNothingReached();
    });
  }

  test("a webhook does not call it, and its deliveries report it like an unknown name", async () => {
    const owner = await someone();
    const errors = [];
    for (const [name, later] of [
      ["moved-webhook", ["127.0.0.1"]],
      ["gone-webhook", []],
    ] as const) {
      const host = names.answer(name, ["8.8.8.8"], later);
      assert.equal((await webhookOf(owner, `http://${host}:${trapPort}/`, name)).status, 200);
      const { body } = await owner.call("POST", `${owner.path}/webhooks/${name}/test`);
      assert.equal(body.outcome, "failed");
      errors.push(body.error.replace(host, "HOST"));
    }
    assert.equal(errors[0], errors[1]);
    assert.equal((await refusals(owner.workspace, "webhook")).length, 1);
    assertNothingReached();
  });

  test("the callback of an export is not called, and the attempt is in the audit log", async () => {
    const owner = await someone();
    const host = names.answer("moved-callback", ["8.8.8.8"], ["127.0.0.1"]);
    const callback_endpoint = `http://${host}:${trapPort}/`;
    const { status } = await exportOf(owner, await segmentOf(owner), { callback_endpoint });
    assert.equal(status, 201);
    await until(async () => (await refusals(owner.workspace, "segment_export")).length === 1);
    assertNothingReached();
  });

  test("a name that changes with every look-up is called only at the address that was checked", async () => {
    const owner = await someone();
    const turns = Array.from({ length: 20 }, (_, turn) => [`127.0.0.${turn % 2 === 0 ? 2 : 1}`]);
    const host = names.answer("turning", ...turns);
    await webhookOf(owner, `http://${host}:${trapPort}/turning`, "turning");
    assert.equal(names.asked(host), 1);
    const outcomes = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      const { body } = await owner.call("POST", `${owner.path}/webhooks/turning/test`);
      outcomes.push(body.outcome);
    }
    assert.equal(names.asked(host), 7, "one look-up for each attempt");
    assert.deepEqual(outcomes, [
      "failed",
      "delivered",
      "failed",
      "delivered",
      "failed",
      "delivered",
    ]);
    assert.equal(got.filter((path) => path === "/turning").length, 3);
    assertNothingReached();
  });

  test("Rapport's own database is not reached though its host is allowed", {
    skip: ENGINE === "embedded" && "The embedded engine listens nowhere.",
  }, async () => {
    const owner = await someone();
    const { port } = new URL(server.config.databaseUrl ?? "");
    const refused = await webhookOf(owner, `http://own-database.names.test:${port || 5_432}/`);
    assert.match(sentenceOf(refused, port), /not a host that Rapport may call/);
    assert.equal((await refusals(owner.workspace, "webhook")).length, 1);
  });
});
