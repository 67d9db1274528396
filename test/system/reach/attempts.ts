import assert from "node:assert/strict";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { join } from "node:path";
import { dataDir, outside, S3, type Someone, sentenceOf, TRAP, trapPort } from "./scene.ts";

/* A person's requests to reach a place. */

export const webhookOf = (me: Someone, url: string, id: string = randomUUID()) =>
  me.call("PUT", `${me.path}/webhooks/${id}`, { name: "CRM", url });

/** Attempts on a webhook that exists: its secret comes with another address. */
export async function movedWebhookOf(me: Someone, url: string, id: string) {
  const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
  const { status } = await webhookOf(me, "http://8.8.8.8/", id);
  assert.equal(status, 200);
  return me.call("PATCH", `${me.path}/webhooks/${id}`, { url, secret });
}

export async function segmentOf(me: Someone): Promise<string> {
  const id = randomUUID();
  const filter = { attribute: "external_id", equals: "ada" };
  const { status } = await me.call("PUT", `${me.path}/segments/${id}`, { name: id, filter });
  assert.equal(status, 200);
  return id;
}

export const exportOf = (me: Someone, segment_id: string, more: object) =>
  me.workspace.call<any>("POST", "/users/export/segment", {
    segment_id,
    fields_to_export: ["external_id"],
    ...more,
  });

export const integrationOf = (me: Someone, warehouse: object, id = randomUUID()) =>
  me.call("PUT", `${me.path}/integrations/${id}`, {
    name: id,
    type: "attributes",
    retry: { attempts: 1 },
    warehouse,
  });

/** Attempts on a sync that exists, whose warehouse has `known`. */
export const changedIntegrationOf =
  (known: object): typeof integrationOf =>
  async (me, warehouse, id = randomUUID()) => {
    assert.equal((await integrationOf(me, known, id)).status, 200);
    return me.call("PATCH", `${me.path}/integrations/${id}`, { warehouse });
  };

/** Attempts on a source that is only tested. */
export const testedIntegrationOf: typeof integrationOf = (me, warehouse, id = randomUUID()) =>
  me.call("POST", `${me.path}/integrations/${id}/test-change`, {
    name: id,
    type: "attributes",
    warehouse,
  });

/** Asks what may be read through a source. */
export const listedTablesOf: typeof integrationOf = (me, warehouse, id = randomUUID()) =>
  me.call("POST", `${me.path}/integrations/${id}/tables`, { warehouse });

/** How a field of an integration is sent; of a sync that exists, whose warehouse has `known`, in a PATCH. */
export function declaringBy(field: string, known: object): typeof integrationOf {
  if (field.startsWith("test")) return testedIntegrationOf;
  if (field.startsWith("list")) return listedTablesOf;
  return field.startsWith("patch") ? changedIntegrationOf(known) : integrationOf;
}

/**
 * The result for a place of a connection: the refusal of its declaration, or the message of its
 * test or its run.
 */
export async function syncMessage(
  owner: Someone,
  warehouse: Record<string, string>,
  declare = integrationOf,
): Promise<string> {
  const id = randomUUID();
  const { url = "" } = warehouse;
  const declared = await declare(owner, warehouse, id);
  const hide = (message: string) => (url ? message.replaceAll(url, "PLACE") : message);
  if (declared.status !== 200) return hide(sentenceOf(declared, url));
  if (declared.body.problem !== undefined) return hide(declared.body.problem);
  const { body } = await owner.call("POST", `${owner.path}/integrations/${id}/sync`);
  for (;;) {
    const { body: found } = await owner.call(
      "GET",
      `${owner.path}/integrations/${id}/runs/${body.run_id}`,
    );
    const { job_status, message, rows_synced } = found.run;
    if (job_status === "running") continue;
    assert.deepEqual([job_status, rows_synced], ["config_error", 0], `${url}: ${message}`);
    return hide(message);
  }
}

const CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----";

const private_key = generateKeyPairSync("rsa", { modulusLength: 2_048 })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();

/** A source of each kind at some host, with its place. */
export const sourceAt = (type: string, host: string): Record<string, string> => {
  const at = `${host}:${trapPort}`;
  const endpoint = `http://${at}`;
  const credentials = JSON.stringify({
    client_email: "a@b.example",
    private_key,
    token_uri: `${endpoint}/token`,
  });
  const all: Record<string, Record<string, string>> = {
    postgres: { url: `postgres://u:p@${at}/x`, table: "crm" },
    redshift: { url: `postgres://u:p@${at}/x`, table: "crm" },
    mysql: { url: `mysql://u:p@${at}/x`, table: "crm", ca: CERTIFICATE },
    snowflake: { account: "acme-analytics", user: "a", private_key, endpoint, table: "crm" },
    bigquery: { project: "acme-analytics", credentials, endpoint, table: "crm.users" },
    databricks: {
      host: "dbc.cloud.databricks.com",
      path: "/sql/1.0/warehouses/a1",
      token: "t",
      endpoint,
      table: "crm.users",
    },
    s3: { ...S3, endpoint, url: "s3://crm/in/", format: "csv" },
    files: { url: join(outside, "secret.csv"), format: "csv" },
  };
  return { type, ...all[type] };
};

/** Sets a member of a body, such as `center.options.links-tags[].href`. */
export function withText(
  body: unknown,
  [part = "", ...rest]: readonly string[],
  text: string,
): unknown {
  if (part === "") return text;
  const isList = part.endsWith("[]");
  const name = part.replace("[]", "");
  const present = ((body ?? {}) as Record<string, unknown>)[name];
  const inner = isList && Array.isArray(present) ? present[0] : isList ? undefined : present;
  const value = withText(inner, rest, text);
  return { ...(body as object), [name]: isList ? [value] : value };
}

/** Paths that are not the caller's, and one of nothing. */
export const PATHS = [
  join(outside, "secret.csv"),
  join(dataDir, "admin-token"),
  "/etc/passwd",
  "/etc",
  "../secret.csv",
  "in/../../secret.csv",
  "in/link.csv",
  "up/secret.csv",
  "up",
  `file://${join(outside, "secret.csv")}`,
  `${TRAP}users.csv`,
  "s3://crm/in/users.csv",
  "//127.0.0.1/share/users.csv",
  "%2e%2e/secret.csv",
  "in/%2e%2e/%2e%2e/secret.csv",
  "nothing.csv",
];
