/* People with one name, and attributes below the name of their schema. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startOwnServer } from "../harness.ts";
import { declare, newUser, scimClient, USER_SCHEMA } from "../scim-client.ts";

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);

test("a person with one name, or none, is created, read, replaced, found and shown", async () => {
  for (const name of [{ givenName: "Suharto" }, { familyName: "Teller" }, {}]) {
    const created = await scim.users("POST", "", newUser({ name }));
    assert.equal(created.status, 201, JSON.stringify(created.body));
    const { id, userName } = created.body;
    assert.deepEqual(created.body.name, name);
    assert.deepEqual((await scim.users("GET", `/${id}`)).body.name, name);
    const replaced = await scim.users("PUT", `/${id}`, newUser({ userName, name }));
    assert.deepEqual([replaced.status, replaced.body.name], [200, name]);
    const found = await scim.list({ filter: `userName eq "${userName}"` });
    assert.equal(found.body.totalResults, 1);
    const shown = await server.admin("GET", `/admin/v1/dashboard-users/${id}`);
    const { given_name, family_name } = shown.body.person;
    assert.deepEqual([given_name, family_name], [name.givenName ?? "", name.familyName ?? ""]);
    const changed = await server.admin("PATCH", `/admin/v1/dashboard-users/${id}`, {
      given_name: "Madonna",
      family_name: "",
    });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    assert.deepEqual((await scim.users("GET", `/${id}`)).body.name, { givenName: "Madonna" });
  }
});

test("a body with its attributes below the schema has their effect, by POST and by PUT", async () => {
  const { schemas, userName, ...attributes } = newUser({ active: false }) as Record<
    string,
    unknown
  >;
  const created = await scim.users("POST", "", { schemas, userName, [USER_SCHEMA]: attributes });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  assert.equal(created.body.active, false);
  const body = { schemas, [USER_SCHEMA.toUpperCase()]: { ...attributes, active: true } };
  const replaced = await scim.users("PUT", `/${created.body.id}`, body);
  assert.deepEqual([replaced.status, replaced.body.active], [200, true]);
});

test("a filter with a value in single quotes is refused, because it would find no one", async () => {
  const answer = await scim.list({ filter: "userName eq 'ada@acme.example'" });
  assert.equal(answer.status, 400);
  assert.equal(answer.body.scimType, "invalidFilter");
  assert.match(answer.body.detail, /double quotes/);
});
