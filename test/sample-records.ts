/* Requests that work for the records of users: see sample-requests.ts. */
import { randomUUID } from "node:crypto";
import type { TestServer, TestWorkspace } from "./harness.ts";
import type { Samples } from "./sample-administration.ts";

/** A user of its own for each request, because some of them erase it. */
export const ofRecords = (server: TestServer, workspace: TestWorkspace): Samples => {
  const LIST = "/admin/v1/workspaces/:name/users";
  /** Tries again where a request that runs at the same time has reset the workspace. */
  const newUser = async (): Promise<string> => {
    const external_id = `r-${randomUUID()}`;
    const path = `/admin/v1/workspaces/${workspace.name}`;
    const users = [{ external_id, cards_clicked: [{ name: "card" }] }];
    await server.admin("POST", `${path}/import`, { users });
    const { body } = await server.admin("GET", `${path}/users?query=${external_id}`);
    return body.users[0]?.platform_id ?? newUser();
  };
  const ofUser = async () => ({ params: { id: await newUser() } });
  return {
    "GET /admin/v1/workspaces/:name/manifest": () => ({}),
    "GET /admin/v1/workspaces/:name/export/:kind": () => ({ params: { kind: "users" } }),
    [`GET ${LIST}`]: () => ({ query: { query: "ada" } }),
    [`GET ${LIST}/:id`]: ofUser,
    [`GET ${LIST}/:id/timeline`]: ofUser,
    [`PATCH ${LIST}/:id`]: async () => ({
      ...(await ofUser()),
      body: { attributes: { plan: "gold" } },
    }),
    [`DELETE ${LIST}/:id`]: ofUser,
    [`POST ${LIST}/:id/merge`]: async () => ({
      ...(await ofUser()),
      body: { into: await newUser() },
    }),
  };
};
