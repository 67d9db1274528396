/*
 * A third-party SCIM library (`scimmy`) reads the server's responses: it takes the schema that
 * `/Schemas` publishes, and checks every response against it. Two programs that probe SCIM servers,
 * python-scim's scim2-tester and scim-sanity, are run by hand: see docs/decisions/scim.md.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import SCIMMY from "scimmy";
import { startOwnServer } from "../harness.ts";
import { declare, newUser, scimClient, USER_SCHEMA } from "../scim-client.ts";

const { Messages, Schemas, Types } = SCIMMY;

const server = await startOwnServer();
await declare(server);
const scim = scimClient(server);
const get = async (path: string) => (await scim.call("GET", `/scim/v2/${path}`)).body;

type Definition = SCIMMY.Types.Attribute.AttributeDefinition;

function attributeOf(definition: Definition): SCIMMY.Types.Attribute {
  const { type, name, subAttributes = [], mutability, ...config } = definition;
  const traits = { ...config, mutable: mutability };
  return new Types.Attribute(type, name, traits, subAttributes.map(attributeOf));
}

/** The schema as the server publishes it, in the library's terms. */
async function publishedSchema(): Promise<SCIMMY.Types.SchemaDefinition> {
  const { id, name, description, attributes } = await get(`Schemas/${USER_SCHEMA}`);
  return new Types.SchemaDefinition(name, id, description, attributes.map(attributeOf));
}

const full = () =>
  newUser({
    externalId: "ext-1",
    displayName: "Ada",
    active: false,
    emails: [{ value: "ada@acme.example", type: "work", primary: true, display: "Ada" }],
    permissions: {
      companyPermissions: ["admin"],
      appGroup: [
        {
          appGroupName: "demo",
          appGroupPermissions: ["admin"],
          team: [{ teamName: "Red", teamPermissions: ["admin"] }],
          appGroupPermissionSets: [{ appGroupPermissionSetName: "Marketers" }],
        },
      ],
    },
  });

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

describe("an independent SCIM library", () => {
  test("an independent SCIM library reads every returned user completely with the published schema", async () => {
    const schema = await publishedSchema();
    const created = (await scim.users("POST", "", full())).body;
    const answers = [
      created,
      (await scim.users("GET", `/${created.id}`)).body,
      (await scim.users("PUT", `/${created.id}`, newUser())).body,
      (await scim.patch(created.id, { op: "add", path: "displayName", value: "A" })).body,
      ...(await scim.list({})).body.Resources,
    ];
    for (const user of answers) assert.deepEqual(plain(schema.coerce(user, "out")), user);
  });

  test("an independent SCIM library reads the published schema without loss", async () => {
    const published = await get(`Schemas/${USER_SCHEMA}`);
    const { attributes } = plain((await publishedSchema()).describe()) as {
      attributes: Definition[];
    };
    const names = (definitions: readonly Definition[]): unknown =>
      definitions.map(({ name, type, multiValued, required, subAttributes }) => [
        name,
        type,
        multiValued,
        required,
        names(subAttributes ?? []),
      ]);
    assert.deepEqual(names(attributes), names(published.attributes));
  });

  test("an independent SCIM library reads lists, errors, ServiceProviderConfig and resource types", async () => {
    const page = await get("Users?count=1");
    assert.deepEqual(plain(new Messages.ListResponse(page)), page);
    for (const list of ["Schemas", "ResourceTypes"]) {
      const all = await get(list);
      assert.equal(new Messages.ListResponse(all).totalResults, 1, list);
    }
    const refused = (await scim.users("POST", "", { schemas: [USER_SCHEMA] })).body;
    assert.throws(() => new Messages.ErrorResponse(refused), {
      name: "SCIMError",
      status: 400,
      scimType: "invalidValue",
      message: refused.detail,
    });
    const config = new Schemas.ServiceProviderConfig(await get("ServiceProviderConfig"), "out");
    assert.deepEqual(plain(config).patch, { supported: true });
    const type = plain(new Schemas.ResourceType(await get("ResourceTypes/User"), "out"));
    assert.deepEqual([type.endpoint, type.schema], ["/Users", USER_SCHEMA]);
  });
});

describe("SCIM discovery", () => {
  test("/ServiceProviderConfig declares filter and patch as supported", async () => {
    const config = await get("ServiceProviderConfig");
    const supported = Object.entries(config).flatMap(([name, value]) =>
      (value as { supported?: boolean }).supported ? [name] : [],
    );
    assert.deepEqual(supported.sort(), ["filter", "patch"]);
    assert.equal(config.authenticationSchemes[0].type, "oauthbearertoken");
  });

  test("every entry of /ResourceTypes and /Schemas can be read at its own path", async () => {
    for (const collection of ["ResourceTypes", "Schemas"]) {
      const { Resources } = await get(collection);
      for (const resource of Resources) {
        assert.deepEqual(await get(`${collection}/${resource.id}`), resource);
        assert.equal(resource.meta.location, `/scim/v2/${collection}/${resource.id}`);
      }
    }
  });

  test("/Schemas contains the departments and the names of permissions", async () => {
    const { attributes } = await get(`Schemas/${USER_SCHEMA}`);
    const find = (list: Definition[], name: string) => list.find((each) => each.name === name);
    const permissions = find(attributes, "permissions")?.subAttributes ?? [];
    assert.ok(find(attributes, "department")?.canonicalValues?.includes("finance"));
    const company = find(permissions, "companyPermissions")?.canonicalValues;
    assert.ok(company?.includes("manage_company_settings"));
  });
});
