import type { createSettableClock } from "../../src/core/base/clock.ts";
import type { TestServer, TestWorkspace } from "../harness.ts";
import { until } from "../until.ts";

/** The number under which a workspace is stored. */
export async function idOf(server: TestServer, { name }: TestWorkspace): Promise<number> {
  const rows = await server.database.query<{ id: number }>(
    "select workspace_id as id from workspaces where name = $1",
    [name],
  );
  return rows[0]?.id as number;
}

/** Lets time pass until the server has counted the workspace anew. */
export async function recount(
  server: TestServer,
  clock: ReturnType<typeof createSettableClock>,
  workspace: TestWorkspace,
): Promise<void> {
  const id = await idOf(server, workspace);
  const select = () =>
    server.database.query<{ cut: string; counted: string }>(
      "select cut, counted from customer_recounts where workspace_id = $1",
      [id],
    );
  const { cut } = await until(async () => (await select())[0], "the first cut");
  const cutAt = Number.parseInt(cut, 16) * 65_536;
  clock.set(new Date(Math.max(cutAt, clock.now().getTime()) + 61_000));
  await until(async () => (await select())[0]?.counted === cut, "the recount");
  const jobs = "select 1 from jobs where workspace_id = $1 and kind = 'customer_recount'";
  await until(async () => (await server.database.query(jobs, [id])).length === 0, "its end");
}
