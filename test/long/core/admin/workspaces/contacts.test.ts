/*
 * Whom a workspace may mail: the contacts of an integration and of a webhook, as the company and as a person with
 * every permission of the workspace declare them.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { startProvider, visit } from "../../../../dashboard-users/identity-provider.ts";
import { continueSession } from "../../../../dashboard-users/signed-in.ts";
import { freePort } from "../../../../free-port.ts";
import { startOwnServer } from "../../../../harness.ts";
import { declare, scimClient } from "../../../../scim-client.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({
  port,
  oidc: provider.settings,
  outboundAllow: ["127.0.0.1"],
});
const CONNECTION = "crm";
await declare(server, { mail_domains: ["Acme.example", "bücher.example"] }, []);
const workspace = await server.workspace();
const made = await server.admin("PUT", `/admin/v1/connections/${CONNECTION}`, {
  type: "postgres",
  url: "postgres://127.0.0.1:1/x",
  workspaces: [workspace.name],
});
assert.equal(made.status, 200, JSON.stringify(made.body));
const scim = scimClient(server);
const { userName } = await scim.user({
  userName: "grace@somewhere.example",
  permissions: {
    companyPermissions: [],
    appGroup: [{ appGroupName: workspace.name, appGroupPermissions: ["admin"] }],
  },
});
provider.signsIn({ email: userName as string, email_verified: true });
const person = await continueSession(
  server,
  (await visit(server, "/dashboard/sign-in/oidc")).cookie,
);

const base = `/admin/v1/workspaces/${workspace.name}`;

const bodyOf = {
  integrations: (contacts: string) => ({
    name: randomUUID(),
    type: "attributes",
    contact_emails: contacts,
    warehouse: { connection: CONNECTION, table: "users" },
  }),
  webhooks: (contacts: string) => ({
    name: randomUUID(),
    url: "http://127.0.0.1:1/changes",
    contact_emails: contacts,
  }),
};

const many = (count: number, domain = "acme.example") =>
  Array.from({ length: count }, (_, index) => `user-${index}@${domain}`).join(", ");

for (const kind of ["integrations", "webhooks"] as const) {
  describe(`the contacts of ${kind}`, () => {
    const put = (contacts: string, id = randomUUID()) =>
      person.call("PUT", `${base}/${kind}/${id}`, bodyOf[kind](contacts));

    const accepted: [what: string, contacts: string][] = [
      ["an active dashboard user", `${userName}`],
      ["a dashboard user in another case", `${userName}`.toUpperCase()],
      ["an address in a domain of the company", "ops@acme.example"],
      ["a domain in another case", "ops@ACME.EXAMPLE"],
      ["a domain in either spelling", "ops@bücher.example, it@xn--bcher-kva.example"],
      ["twenty addresses", many(20)],
      ["none", ""],
    ];
    for (const [what, contacts] of accepted) {
      test(`a role of a workspace may name ${what}`, async () => {
        const { status, body } = await put(contacts);
        assert.equal(status, 200, JSON.stringify(body));
        assert.equal(body.contact_emails, contacts);
      });
    }

    const refused: [what: string, contacts: string, message: RegExp][] = [
      ["a stranger", "ops@acme.example, it@evil.example", /'contact_emails'.*'it@evil\.example'/],
      ["a subdomain", "ops@mail.acme.example", /mail_domains/],
      ["a domain that ends alike", "ops@notacme.example", /mail_domains/],
      [
        "a quoted local part with a domain in it",
        '"x@acme.example"@evil.example',
        /email|mail_domains/,
      ],
      ["more than twenty addresses", many(21), /more than 20/],
      ["addresses without end", many(20_000), /more than 20|at most 2000/],
    ];
    for (const [what, contacts, message] of refused) {
      test(`a role of a workspace may not name ${what}`, async () => {
        const { status, body } = await put(contacts);
        assert.equal(status, 400, JSON.stringify(body));
        assert.match(body.message, message);
      });
    }

    test("a person who was deactivated is no contact any more", async () => {
      const gone = `gone-${kind}@somewhere.example`;
      const { id } = await scim.user({ userName: gone });
      assert.equal((await put(gone)).status, 200);
      await scim.patch(id, { op: "replace", path: "active", value: false });
      assert.equal((await put(gone)).status, 400);
    });

    test("the company may name any address, and a role may keep it, but add no other", async () => {
      const id = randomUUID();
      const path = `${base}/${kind}/${id}`;
      const body = bodyOf[kind]("agency@partner.example");
      assert.equal((await server.admin("PUT", path, body)).status, 200);
      const kept = await person.call("PUT", path, {
        ...body,
        contact_emails: "agency@partner.example, ops@acme.example",
      });
      assert.equal(kept.status, 200, JSON.stringify(kept.body));
      const added = await person.call("PUT", path, {
        ...body,
        contact_emails: "agency@partner.example, x@evil.example",
      });
      assert.equal(added.status, 400);
    });

    test("the company names at most twenty addresses, in a manifest too, which names the place", async () => {
      const id = randomUUID();
      const one = await server.admin("PUT", `${base}/${kind}/${id}`, bodyOf[kind](many(21)));
      assert.equal(one.status, 400);
      const declared = (contacts: string) => ({
        company: { name: "Acme" },
        workspaces: [{ name: workspace.name, [kind]: [{ id, ...bodyOf[kind](contacts) }] }],
      });
      const all = await server.admin("POST", "/admin/v1/apply", declared(many(21)));
      assert.equal(all.status, 400);
      assert.deepEqual(all.body.path, ["workspaces", 0, kind, 0, "contact_emails"]);
      const fits = await server.admin("POST", "/admin/v1/apply", declared(many(20, "any.example")));
      assert.equal(fits.status, 200, JSON.stringify(fits.body));
    });
  });
}

describe("company.mail_domains", () => {
  test("the domains are one list that is read, replaced and declared, in ASCII", async () => {
    const read = await server.admin("GET", "/admin/v1/mail-domains");
    assert.deepEqual(read.body.mail_domains, ["acme.example", "xn--bcher-kva.example"]);
    const put = await server.admin("PUT", "/admin/v1/mail-domains", {
      mail_domains: ["acme.example", "ACME.example", "xn--bcher-kva.example"],
    });
    assert.deepEqual(put.body.mail_domains, ["acme.example", "xn--bcher-kva.example"]);
  });

  test("what is no domain is refused by its place", async () => {
    for (const domain of ["", "@acme.example", "ops@acme.example", "*.acme.example x", "acme", 7]) {
      const { status, body } = await server.admin("PUT", "/admin/v1/mail-domains", {
        mail_domains: ["acme.example", domain],
      });
      assert.equal(status, 400, String(domain));
      assert.match(body.message, /mail_domains\[1\]/);
    }
  });

  test("only an administrator of the company may change it", async () => {
    const { status } = await person.call("PUT", "/admin/v1/mail-domains", { mail_domains: [] });
    assert.equal(status, 403);
  });
});
