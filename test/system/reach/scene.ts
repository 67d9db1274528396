/*
 * A server, a person with every permission in a workspace and none in the company, and places that
 * are not theirs: a server on loopback, files beside a folder, a storage, and names that a test
 * resolves as it likes.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after } from "node:test";
import { WORKSPACE_PERMISSIONS } from "../../../src/core/base/context/dashboard-permissions.ts";
import { startProvider, visit } from "../../dashboard-users/identity-provider.ts";
import { continueSession, type SignedIn } from "../../dashboard-users/signed-in.ts";
import { freePort } from "../../free-port.ts";
import { type Answer, startOwnServer, type TestWorkspace } from "../../harness.ts";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, startStorage } from "../../s3-server.ts";
import { declare, scimClient } from "../../scim-client.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { startNameServer } from "./name-server.ts";

export const names = await startNameServer();

/** How often the server reached a forbidden place. */
const reached = { times: 0 };

async function listen(host: string, listener: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => listener.listen(port, host, resolve));
  after(() => {
    listener.closeAllConnections();
    listener.close();
  });
  return (listener.address() as AddressInfo).port;
}

/** On loopback, which is forbidden. */
const trap = createServer((_request, response) => void response.end("the text of the trap"));
trap.on("connection", () => {
  reached.times += 1;
});
export const trapPort = await listen("127.0.0.1", trap);
export const TRAP = `http://127.0.0.1:${trapPort}/`;

/** At the same port of an address that is allowed. */
export const got: string[] = [];
await listen(
  "127.0.0.2",
  createServer((request, response) => {
    got.push(request.url ?? "");
    response.end();
  }),
  trapPort,
);

export const storage = await startStorage();
export const storageHost = names.answer("storage", ["127.0.0.1"]);
const port = await freePort();
const provider = await startProvider(port);
export const dataDir = await temporaryFolder();
export const server = await startOwnServer({
  port,
  dataDir,
  oidc: provider.settings,
  outboundAllow: ["127.0.0.2", storageHost, names.answer("own-database", ["127.0.0.1"])],
});
await declare(server);
const scim = scimClient(server);

const drops = await temporaryFolder();
export const outside = await temporaryFolder();
const CSV =
  'UPDATED_AT,EXTERNAL_ID,PAYLOAD\n2026-01-01T12:00:00Z,mallory,"{""plan"":""stolen""}"\n';
mkdirSync(join(drops, "in"));
writeFileSync(join(drops, "in", "crm.csv"), CSV.replace("stolen", "own"));
writeFileSync(join(outside, "secret.csv"), CSV);
symlinkSync(join(outside, "secret.csv"), join(drops, "in", "link.csv"));
symlinkSync(outside, join(drops, "up"));

export interface Someone extends SignedIn {
  readonly workspace: TestWorkspace;
  readonly path: string;
}

/** A person with every permission in a workspace of their own, and none in the company. */
export async function someone(declared: Record<string, unknown> = {}): Promise<Someone> {
  const workspace = await server.workspace(declared);
  const appGroupPermissions = [...WORKSPACE_PERMISSIONS];
  const appGroup = [{ appGroupName: workspace.name, appGroupPermissions }];
  const { userName } = await scim.user({ permissions: { companyPermissions: [], appGroup } });
  provider.signsIn({ email: userName as string, email_verified: true });
  const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
  const session = await continueSession(server, cookie);
  return { ...session, workspace, path: `/admin/v1/workspaces/${workspace.name}` };
}

export async function connection(workspace: string, settings: object): Promise<string> {
  const name = `c-${randomUUID()}`;
  const body = { workspaces: [workspace], ...settings };
  const { status, body: answer } = await server.admin("PUT", `/admin/v1/connections/${name}`, body);
  assert.equal(status, 200, JSON.stringify(answer));
  return name;
}

export const FILES = { type: "files", root: drops };

export const S3 = {
  type: "s3",
  endpoint: storage.endpoint.replace("127.0.0.1", storageHost),
  region: REGION,
  access_key_id: ACCESS_KEY_ID,
  secret_access_key: SECRET_ACCESS_KEY,
};

/** The refusals of a workspace in the audit log. */
export async function refusals(workspace: TestWorkspace, kind: string): Promise<any[]> {
  const { body } = await server.admin(
    "GET",
    `/admin/v1/audit?limit=500&workspace=${workspace.name}`,
  );
  return body.entries.filter((each: any) => each.action === "refused" && each.kind === kind);
}

/** Refused with one sentence, regardless of the place; `place` is the caller's value. */
export function sentenceOf({ status, body }: Answer<any>, place: string): string {
  assert.ok(status === 400 || status === 403, `${place}: ${status} ${JSON.stringify(body)}`);
  return String(body.message);
}

/**
 * Hosts that resolve to this machine, to a private network or to nothing, as an attacker writes
 * them.
 */
export const HOSTS = [
  ..."127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 017700000001 localhost LOCALHOST. 127.0.0.1. 0.0.0.0 0".split(
    " ",
  ),
  ..."10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1 169.254.169.254 168.63.129.16 224.0.0.1 255.255.255.255".split(
    " ",
  ),
  ..."[::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::]".split(
    " ",
  ),
  ..."[fc00::1] [fd00:ec2::254] [fe80::1] [fec0::1] [ff02::1] ①②⑦.⓪.⓪.①".split(" "),
  names.answer("loopback", ["127.0.0.1"]),
  names.answer("loopback6", ["::1"]),
  names.answer("mapped", ["::ffff:127.0.0.1"]),
  names.answer("metadata", ["169.254.169.254"]),
  names.answer("private", ["10.1.2.3"]),
  names.answer("unique-local", ["fc00::1"]),
  names.answer("one-of-two", ["8.8.8.8", "10.1.2.3"]),
  names.answer("nothing"),
];

/** Sends each host, and checks that the responses differ in nothing but the host, and that the audit has them all. */
export async function hostsAreRefused(
  { workspace }: Someone,
  kind: string,
  send: (url: string) => Promise<Answer<any>>,
) {
  const sentences = new Set<string>();
  for (const host of HOSTS) {
    const url = `http://${host}:${trapPort}/hook`;
    sentences.add(sentenceOf(await send(url), url).replace(/'[^']*' is not/, "HOST is not"));
  }
  assert.equal(sentences.size, 1, [...sentences].join("\n"));
  assert.equal((await refusals(workspace, kind)).length, HOSTS.length);
}

/** @throws if the server connected to loopback. */
export const assertNothingReached = (): void => assert.equal(reached.times, 0);
