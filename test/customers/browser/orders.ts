import { NEWSLETTER, type TestServer, type TestWorkspace } from "../../harness.ts";
import { until } from "../../until.ts";

/** A workspace of three customers: an event a day ago of two, forty days ago of the third, and a purchase; all are counted. */
export async function withOrders(server: TestServer): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  const ids = ["ada", "ben", "cleo"];
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const group = { subscription_group_id: NEWSLETTER, subscription_state: "unsubscribed" };
  await workspace.track({
    attributes: ids.map((external_id) => ({ external_id, subscription_groups: [group] })),
    events: [2, 2, 40].map((days, index) => ({
      external_id: ids[index],
      name: "Order placed",
      time: daysAgo(days),
      ...(days === 40 && { properties: { total: 59.8 } }),
    })),
    purchases: [
      {
        external_id: "ada",
        product_id: "hat",
        currency: "EUR",
        price: 19.9,
        quantity: 2,
        time: daysAgo(2),
      },
    ],
  });
  await until(async () => {
    const path = `/admin/v1/workspaces/${workspace.name}/customers`;
    const { body } = await server.admin("GET", path);
    return (
      body.users.total === 3 && body.groups.some(({ unsubscribed }: any) => unsubscribed === 3)
    );
  });
  return workspace;
}
