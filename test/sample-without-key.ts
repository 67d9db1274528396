/* Requests that work without a key: public ones, and those for signing in to the dashboard. */

import { randomUUID } from "node:crypto";
import { signIn } from "./dashboard-users/signed-in.ts";
import type { TestServer, TestWorkspace } from "./harness.ts";
import type { Samples } from "./sample-administration.ts";

const OPEN = ["/health/live", "/health/ready", "/manifest.schema.json"];
const DOCUMENTS = ["/openapi.json", "/openapi-admin.json"];
const SITE = ["/", "/docs", "/docs/third-party-notices", "/llms.txt", "/llms-full.txt"];
export const open: Samples = Object.fromEntries(
  [...OPEN, ...DOCUMENTS, ...SITE].map((path) => [`GET ${path}`, () => ({})]),
);

const REQUESTS = "/admin/v1/workspaces/:name/requests";

export const ofSignIn = (server: TestServer, workspace: TestWorkspace): Samples => {
  const withSession = async () => ({ headers: (await signIn(server)).headers });
  return {
    "GET /dashboard/session": withSession,
    "POST /dashboard/session": () => ({ body: { admin_token: server.adminToken } }),
    "DELETE /dashboard/session": withSession,
    "DELETE /dashboard/sessions": withSession,
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
