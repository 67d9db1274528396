/* Requests that work for the records of users: see sample-requests.ts. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { TestServer, TestWorkspace } from "./harness.ts";
import type { Samples } from "./sample-administration.ts";

/** A new user for each request, because some of them erase it. */
export const ofRecords = (server: TestServer, workspace: TestWorkspace): Samples => {
  const LIST = "/admin/v1/workspaces/:name/users";
  /**
   * Tries again if a request that runs at the same time has reset the workspace, or if a busy
   * server refuses (503). Any other refusal is reported: it has no list of users.
   */
  const newUser = async (attempts = 30): Promise<string> => {
    const external_id = `r-${randomUUID()}`;
    const path = `/admin/v1/workspaces/${workspace.name}`;
    const users = [{ external_id, cards_clicked: [{ name: "card" }] }];
    const imported = await server.admin("POST", `${path}/import`, { users });
    const found = await server.admin("GET", `${path}/users?query=${external_id}`);
    const platformId = found.body.users?.[0]?.platform_id;
    if (platformId !== undefined) return platformId;
    const isRefused = [imported, found].some(({ status }) => status >= 400 && status !== 503);
    if (isRefused || attempts === 1) {
      const answers = [imported, found].map(({ status, body }) => ({ status, body }));
      throw new Error(`No user to try requests with: ${JSON.stringify(answers)}`);
    }
    await setTimeout(100);
    return newUser(attempts - 1);
  };
  const ofUser = async () => ({ params: { id: await newUser() } });
  return {
    "GET /admin/v1/workspaces/:name/manifest": () => ({}),
    "GET /admin/v1/workspaces/:name/export/:kind": () => ({ params: { kind: "users" } }),
    [`GET ${LIST}`]: () => ({ query: { query: "ada" } }),
    [`GET ${LIST}/:id`]: ofUser,
    [`GET ${LIST}/:id/timeline`]: ofUser,
    [`GET ${LIST}/:id/segments`]: ofUser,
    [`PATCH ${LIST}/:id`]: async () => ({
      ...(await ofUser()),
      body: { attributes: { plan: "gold" } },
    }),
    [`DELETE ${LIST}/:id`]: ofUser,
    "POST /admin/v1/workspaces/:name/segments/explain": async () => ({
      body: { filter: { event: "signed_up" }, user_id: await newUser() },
    }),
    [`POST ${LIST}/:id/merge`]: async () => ({
      ...(await ofUser()),
      body: { into: await newUser() },
    }),
    "GET /admin/v1/workspaces/:name/merges": () => ({}),
    "POST /admin/v1/workspaces/:name/merges/:id/undo": async () => {
      const [merged, into] = [await newUser(), await newUser()];
      const path = `/admin/v1/workspaces/${workspace.name}`;
      await server.admin("POST", `${path}/users/${merged}/merge`, { into });
      const { body } = await server.admin("GET", `${path}/merges?user=${merged}`);
      return { params: { id: body.merges[0].id }, body: {} };
    },
  };
};
