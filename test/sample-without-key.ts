/* Requests that work without a key: public ones, and those for signing in to the dashboard. */

import { randomUUID } from "node:crypto";
import { createAuthenticator } from "./authenticator.ts";
import { addColleague, choosePassword, enter, PASSWORD } from "./colleagues.ts";
import { signIn } from "./dashboard-users/signed-in.ts";
import type { TestServer, TestWorkspace } from "./harness.ts";
import type { Samples } from "./sample-administration.ts";

const OPEN = ["/health/live", "/health/ready", "/manifest.schema.json"];
const DOCUMENTS = ["/openapi.json", "/openapi-admin.json"];
const SITE = ["/", "/docs", "/docs/third-party-notices", "/llms.txt", "/llms-full.txt"];
export const open: Samples = Object.fromEntries(
  [...OPEN, ...DOCUMENTS, ...SITE].map((path) => [`GET ${path}`, () => ({})]),
);

/** Passkeys work at localhost, and not at the address of the tests' servers. */
const AT_LOCALHOST = { host: "localhost" };
const LOCALHOST = "http://localhost";

/** A colleague who is signed in, and a passkey that is not added yet. */
async function newPasskey(server: TestServer) {
  const person = await addColleague(server);
  const browser = await enter(server, person);
  const authenticator = createAuthenticator(person.id);
  const path = "/dashboard/passkeys/options";
  const { body } = await browser.call("POST", path, {}, { headers: AT_LOCALHOST });
  const asked = { challenge: body.options.challenge, origin: LOCALHOST };
  return { browser, authenticator, response: authenticator.create(asked) };
}

async function withPasskey(server: TestServer) {
  const { browser, authenticator, response } = await newPasskey(server);
  const body = { name: "Laptop", response };
  await browser.call("POST", "/dashboard/passkeys", body, { headers: AT_LOCALHOST });
  return { browser, authenticator };
}

const REQUESTS = "/admin/v1/workspaces/:name/requests";

export const ofSignIn = (server: TestServer, workspace: TestWorkspace): Samples => {
  const withSession = async () => ({ headers: (await signIn(server)).headers });
  return {
    "GET /dashboard/session": withSession,
    "POST /dashboard/session": () => ({ body: { admin_token: server.adminToken } }),
    "DELETE /dashboard/session": withSession,
    "DELETE /dashboard/sessions": withSession,
    "POST /dashboard/session/password": async () => {
      const person = await addColleague(server);
      await choosePassword(await enter(server, person));
      return { body: { user_name: person.userName, password: PASSWORD } };
    },
    "POST /dashboard/session/passkey/options": () => ({ headers: AT_LOCALHOST }),
    "POST /dashboard/session/passkey": async () => {
      const { authenticator, browser } = await withPasskey(server);
      const { body } = await browser.call(
        "POST",
        "/dashboard/session/passkey/options",
        {},
        { headers: AT_LOCALHOST },
      );
      const asked = { challenge: body.options.challenge, origin: LOCALHOST };
      return { headers: AT_LOCALHOST, body: { response: authenticator.get(asked) } };
    },
    "GET /dashboard/credentials": withSession,
    "PUT /dashboard/password": async () => {
      const { headers } = await enter(server, await addColleague(server));
      return { headers, body: { password: PASSWORD } };
    },
    "DELETE /dashboard/password": async () => {
      const browser = await enter(server, await addColleague(server));
      await choosePassword(browser);
      return { headers: browser.headers, body: {} };
    },
    "POST /dashboard/passkeys/options": async () => {
      const { headers } = await enter(server, await addColleague(server));
      return { headers: { ...headers, ...AT_LOCALHOST }, body: {} };
    },
    "POST /dashboard/passkeys": async () => {
      const { browser, response } = await newPasskey(server);
      return {
        headers: { ...browser.headers, ...AT_LOCALHOST },
        body: { name: "Laptop", response },
      };
    },
    "DELETE /dashboard/passkeys/:passkey": async () => {
      const { authenticator, browser } = await withPasskey(server);
      return { headers: browser.headers, params: { passkey: authenticator.id }, body: {} };
    },
    "DELETE /dashboard/sessions/:session": async () => {
      const browser = await enter(server, await addColleague(server));
      const { body } = await browser.call("GET", "/dashboard/credentials");
      return { headers: browser.headers, params: { session: body.sessions[0].id } };
    },
    "POST /admin/v1/sign-in-links": () => ({}),
    [`GET ${REQUESTS}`]: () => ({}),
    "GET /admin/v1/workspaces/:name/overview": () => ({}),
    "GET /admin/v1/workspaces/:name/customers": () => ({ query: { days: "7" } }),
    [`GET ${REQUESTS}/stream`]: () => ({ query: { for_seconds: "0" } }),
    [`GET ${REQUESTS}/:id`]: async () => {
      const path = REQUESTS.replace(":name", workspace.name);
      const list = "/preference_center/v1/list";
      // Other samples revoke the key of the workspace meanwhile, and a reset removes its requests.
      const keys = REQUESTS.replace(":name", workspace.name).replace(/requests$/, "api-keys");
      const permissions = ["preference_center.list"];
      for (let tries = 1; ; tries += 1) {
        const named = { name: randomUUID(), permissions };
        const { body: created } = await server.admin("POST", keys, named);
        await server.send("GET", list, undefined, { key: created.key });
        const { body } = await server.admin("GET", `${path}?limit=1`);
        if (body.requests.length > 0 || tries === 20)
          return { params: { id: body.requests[0].id } };
      }
    },
  };
};
