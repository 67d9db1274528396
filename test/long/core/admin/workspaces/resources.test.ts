/*
 * The common behaviour of all resources, checked for each: it can be created, read, listed, changed
 * and removed; a repeated change leaves no row in the audit log; a fault names the field; and the
 * manifest and the admin API agree. A new resource needs an entry in CASES.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { isEditable } from "../../../../../src/core/admin/workspaces/resource.ts";
import { pathsOf } from "../../../../../src/core/http/endpoint.ts";
import { ADMINISTERED, ENDPOINTS } from "../../../../../src/server/assembled.ts";
import {
  CASES,
  type Case,
  type Members,
} from "../../../../core/admin/workspaces/resource-cases.ts";
import { startOwnServer } from "../../../../harness.ts";

const server = await startOwnServer();
await server.workspace();

/** A new workspace, or the company, with the resource below test. */
interface Place {
  readonly path: string;
  /** A manifest that declares the resource in this way, or not at all. */
  manifest(declared?: unknown): object;
}

const RESOURCES = Object.values(ADMINISTERED).flat();

/** Sends a request that must succeed. */
async function admin(method: string, path: string, body?: unknown): Promise<any> {
  const response = await server.admin(method, path, body);
  assert.equal(response.status, 200, `${method} ${path}: ${JSON.stringify(response.body)}`);
  return response.body;
}

const apply = (manifest: object) => admin("POST", "/admin/v1/apply", manifest);

/** The part of `body` that `members` speaks of: other members hold defaults. */
const pick = (body: Members | undefined, members: Members) =>
  body && Object.fromEntries(Object.keys(members).map((name) => [name, body[name]]));

async function newPlace(key: string, owner: Case["owner"], id?: string): Promise<Place> {
  const company = { name: "Test" };
  const last = key.replaceAll("_", "-");
  if (owner === "ofWorkspace") {
    const { name } = await server.workspace();
    const manifest = (declared?: unknown) => ({
      company,
      workspaces: [{ name, allow_reset: true, ...(declared !== undefined && { [key]: declared }) }],
    });
    return { path: `/admin/v1/workspaces/${name}/${last}`, manifest };
  }
  const manifest = (declared?: unknown) => {
    if (key === "company") return { company: declared ?? company, workspaces: [] };
    if (id !== undefined && key === "workspaces") return { company, workspaces: declared ?? [] };
    const inCompany = declared === undefined ? company : { ...company, [key]: declared };
    return { company: inCompany, workspaces: [] };
  };
  return { path: `/admin/v1/${last}`, manifest };
}

async function rowsOf({ path }: Place, { owner, kind }: Case, name: string): Promise<string[]> {
  const workspace = owner === "ofWorkspace" ? `&workspace=${path.split("/")[4]}` : "";
  const query = `kind=${kind}&name=${encodeURIComponent(name)}${workspace}`;
  const { entries } = await admin("GET", `/admin/v1/audit?${query}`);
  return entries.map((entry: { action: string }) => entry.action).reverse();
}

test("every resource of a manifest can be changed through the admin API", () => {
  const writing = ENDPOINTS.map((endpoint) => endpoint.contract)
    .filter(({ method, access }) => method !== "GET" && access.by === "administrator")
    .flatMap(pathsOf);
  const placesOf = (base: string, keys: readonly { readonly key: string }[]) =>
    keys.map(({ key }) => `${base}/${key.replaceAll("_", "-")}`);
  const { ofServer, ofCompany, ofWorkspace } = ADMINISTERED;
  for (const place of [
    ...placesOf("/admin/v1", [...ofServer, ...ofCompany]),
    ...placesOf("/admin/v1/workspaces/:name", ofWorkspace),
  ]) {
    const has = writing.some((path) => path === place || path.startsWith(`${place}/`));
    assert.ok(has, `No endpoint changes ${place}: give the resource read and put, or endpoints.`);
  }
});

test("every resource with derived endpoints is covered by these tests, and no other one is", () => {
  assert.deepEqual(
    RESOURCES.filter(isEditable)
      .map(({ key }) => key)
      .sort(),
    Object.keys(CASES).sort(),
    "Add the resource to CASES, or remove its case.",
  );
});

describe("every resource can be read and changed through the admin API, with an audit row for each change", () => {
  for (const [key, each] of Object.entries(CASES)) {
    if (each.id === undefined) checkValue(key, each);
    else checkList(key, each, each.id);
  }
});

function checkList(key: string, each: Case, id: string): void {
  const { owner, entry, other, invalid, kind } = each;
  const resource = RESOURCES.find((found) => found.key === key);
  const identity = resource?.identity as string;
  const isRemovable = resource?.remove !== undefined;
  const declaredEntry = { [identity]: id, ...entry };
  const one = ({ path }: Place) => `${path}/${encodeURIComponent(id)}`;
  const listed = async ({ path }: Place): Promise<Members | undefined> =>
    (await admin("GET", path))[key].find((found: Members) => found[identity] === id);

  test(`an entry of ${key} is created, read, listed, changed and removed, and each change is audited once`, async () => {
    const place = await newPlace(key, owner, id);
    assert.equal((await server.admin("GET", one(place))).status, 404);
    const created = await admin("PUT", one(place), entry);
    const { message: _message, ...view } = created;
    assert.deepEqual(pick(created, declaredEntry), declaredEntry);
    assert.deepEqual(await admin("GET", one(place)), created);
    assert.deepEqual(await listed(place), view);
    assert.deepEqual(await admin("PUT", one(place), entry), created);
    const changed = await admin("PUT", one(place), other);
    assert.deepEqual(pick(changed, other), other);
    const name = each.auditName ?? String(other.name);
    const removed = isRemovable ? ["removed"] : [];
    if (isRemovable) {
      await admin("DELETE", one(place));
      assert.equal(await listed(place), undefined);
      assert.equal((await server.admin("DELETE", one(place))).status, 404);
      assert.equal((await server.admin("GET", one(place))).status, 404);
    }
    assert.deepEqual(await rowsOf(place, each, name), ["created", "updated", ...removed], kind);
  });

  test(`a PATCH of an entry of ${key} changes only the given fields, with one audit row`, async () => {
    const place = await newPlace(key, owner, id);
    const path = one(place);
    if (isRemovable) assert.equal((await server.admin("PATCH", path, {})).status, 404);
    const created = await admin("PUT", path, entry);
    await checkPatch(place, each, path, created);
    if (isRemovable) await admin("DELETE", path);
  });

  test(`a refused body for ${key} names the field and changes nothing`, async () => {
    const place = await newPlace(key, owner, id);
    const before = await listed(place);
    await refuses(one(place), invalid.body, `'${invalid.field}`);
    await refuses(one(place), { ...entry, more: 1 }, "'more'");
    const nul = `${place.path}/${encodeURIComponent("a\0")}`;
    await refuses(nul, entry, "NUL character");
    assert.deepEqual(await listed(place), before);
  });

  test(`a manifest and the admin API read and write the same entry of ${key}`, async () => {
    const place = await newPlace(key, owner, id);
    await apply(place.manifest([declaredEntry]));
    const declared = await listed(place);
    assert.deepEqual(pick(declared, declaredEntry), declaredEntry);
    await admin("PUT", one(place), other);
    await apply(place.manifest());
    assert.deepEqual(pick(await listed(place), other), other, "an absent list changes nothing");
    await apply(place.manifest([declaredEntry]));
    assert.deepEqual(await listed(place), declared, "the manifest overrides the change");
    await apply(place.manifest([declaredEntry])).then(({ changes }) =>
      assert.deepEqual(changes, []),
    );
    if (isRemovable) {
      assert.equal(declared?.declared, true);
      await apply(place.manifest([]));
      assert.equal(await listed(place), undefined);
    }
  });

  if (!isRemovable) return;
  test(`a manifest keeps an entry of ${key} from the admin API until the manifest declares it`, async () => {
    const place = await newPlace(key, owner, id);
    await admin("PUT", one(place), entry);
    await apply(place.manifest([]));
    assert.equal((await listed(place))?.declared, false);
    await apply(place.manifest([declaredEntry]));
    assert.equal((await listed(place))?.declared, true);
    await apply(place.manifest([]));
    assert.equal(await listed(place), undefined);
  });
}

function checkValue(key: string, each: Case): void {
  const { owner, entry, other, invalid } = each;
  // A body names a list; a manifest has it under its key.
  const isList = Array.isArray(entry[key]);
  const contentOf = (body: Members): Members =>
    key in body && !isList ? (body[key] as Members) : body;
  const declared = isList ? entry[key] : entry;

  test(`the value of ${key} is set and read, and each change is audited once`, async () => {
    const place = await newPlace(key, owner);
    await admin("PUT", place.path, entry);
    const name = each.auditName ?? (place.path.split("/")[4] as string);
    const before = await rowsOf(place, each, name);
    const changed = await admin("PUT", place.path, other);
    assert.deepEqual(pick(contentOf(changed), other), other);
    assert.deepEqual(await admin("GET", place.path), changed);
    assert.deepEqual(await admin("PUT", place.path, other), changed);
    assert.deepEqual(await rowsOf(place, each, name), [...before, "updated"]);
  });

  test(`a PATCH of ${key} changes only the given fields, with one audit row`, async () => {
    const place = await newPlace(key, owner);
    const before = await admin("PUT", place.path, entry);
    await checkPatch(place, each, place.path, before);
  });

  test(`a refused body for ${key} names the field and changes nothing`, async () => {
    const place = await newPlace(key, owner);
    const before = await admin("PUT", place.path, entry);
    await refuses(place.path, invalid.body, `'${invalid.field}`);
    await refuses(place.path, { ...entry, more: 1 }, "'more'");
    assert.deepEqual(await admin("GET", place.path), before);
  });

  test(`a manifest overrides what the admin API has set in ${key}`, async () => {
    const place = await newPlace(key, owner);
    await admin("PUT", place.path, other);
    await apply(place.manifest(declared));
    assert.deepEqual(pick(contentOf(await admin("GET", place.path)), entry), entry);
    const { changes } = await apply(place.manifest(declared));
    assert.deepEqual(changes, []);
  });
}

/** Its secret must come with another address. */
const SECRET = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;

/** Changes with PATCH what differs between the two entries of a case. @param present the response with the first one. */
async function checkPatch(place: Place, each: Case, path: string, present: Members): Promise<void> {
  const { entry, other, invalid } = each;
  const patch = Object.fromEntries(
    Object.entries(other).filter(([name, value]) => !isDeepStrictEqual(value, entry[name])),
  );
  const secret = "url" in patch ? { secret: SECRET, previous_secret_until: null } : {};
  const { previous_secret_until: _until, ...sent } = { ...patch, ...secret };
  const rows = await entriesOf(place, each);
  assert.deepEqual(await admin("PATCH", path, {}), present);
  const changed = await admin("PATCH", path, sent);
  const content = (body: Members): Members => (body.settings as Members | undefined) ?? body;
  const isWhole = each.kind !== "workspace" || each.id !== undefined;
  const [before, after] = isWhole ? [present, changed] : [content(present), content(changed)];
  assert.deepEqual({ ...after, ...secret }, { ...before, ...patch, ...secret });
  assert.deepEqual(await admin("GET", path), changed);
  assert.deepEqual(await admin("PATCH", path, patch), changed);
  await refuses(path, { more: null }, "'more'", "PATCH");
  await refuses(path, [], "body", "PATCH");
  const [faulty = ""] = invalid.field.split(".");
  await refuses(path, { [faulty]: invalid.body[faulty] }, `'${invalid.field}`, "PATCH");
  assert.deepEqual(await admin("GET", path), changed);
  const [row, ...others] = await entriesOf(place, each);
  assert.deepEqual(others, rows, "one row more");
  assert.equal(row.action, "updated");
  assert.deepEqual(Object.keys(row.details).sort(), ["after", "before"]);
  assert.notDeepEqual(row.details.before, row.details.after);
}

/** The rows of the audit about the kind, newest first. */
async function entriesOf({ path }: Place, { owner, kind }: Case): Promise<any[]> {
  const workspace = owner === "ofWorkspace" ? `&workspace=${path.split("/")[4]}` : "";
  return (await admin("GET", `/admin/v1/audit?kind=${kind}${workspace}`)).entries;
}

/** Sends a body that must be refused with a message that has this part. */
async function refuses(path: string, body: unknown, part: string, method = "PUT"): Promise<void> {
  const { status, body: reply } = await server.admin(method, path, body);
  assert.equal(status, 400, JSON.stringify(body));
  assert.ok(reply.message.includes(part), `${part} is not in: ${reply.message}`);
}
