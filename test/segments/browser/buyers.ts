import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { NEWSLETTER, type TestServer, type TestWorkspace } from "../../harness.ts";

/** Five users with a plan, two of them in Germany; the first three bought twice, and the first two of them have an address. */
export async function withBuyers(workspace: TestWorkspace): Promise<void> {
  const time = new Date().toISOString();
  const bought = { product_id: "shoes", currency: "EUR", price: 1, time };
  const ids = ["u0", "u1", "u2", "u3", "u4"];
  const { status } = await workspace.track({
    attributes: ids.map((external_id, index) => ({
      external_id,
      plan: "pro",
      ...(index === 0 && { first_name: "Nora", last_name: "Lind" }),
      visits: index,
      country: index === 1 || index === 4 ? "DE" : "FR",
      ...(index === 3 && {
        subscription_groups: [
          { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
        ],
      }),
      ...(index < 2 && { email: `${external_id}@example.com` }),
    })),
    purchases: ids
      .slice(0, 4)
      .flatMap((external_id, index) =>
        Array.from({ length: index < 3 ? 2 : 1 }, () => ({ external_id, ...bought })),
      ),
  });
  assert.equal(status, 201);
}

/** Declares the segment of those who bought twice and have an address. @returns its id. */
export async function declareSegment(
  server: TestServer,
  { name }: TestWorkspace,
  title: string,
): Promise<string> {
  const id = randomUUID();
  const filter = {
    all: [{ purchases: "any", at_least: 2, in_last_days: 30 }, { email_available: true }],
  };
  const put = `/admin/v1/workspaces/${name}/segments/${id}`;
  assert.ok((await server.admin("PUT", put, { name: title, filter })).status < 300);
  return id;
}
