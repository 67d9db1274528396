import { readdir, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startServer } from "../../soak/server.ts";
import { ATTACKED } from "../attacked-server.ts";
import { type Attack, type Heard, mustHold, type Target, tally } from "../target.ts";

/* Single requests and settings that gave access, failed, or ran forever. */

/** Entries of a folder that others than its owner may access, and how many there are. */
async function openEntries(folder: string): Promise<{ open: string[]; all: number }> {
  const names = await readdir(folder, { recursive: true });
  const open: string[] = [];
  for (const name of ["", ...names]) {
    if (((await stat(join(folder, name))).mode & 0o077) !== 0) open.push(name || folder);
  }
  return { open, all: names.length + 1 };
}

const refused = async (what: Promise<Heard>): Promise<string> => {
  const response = await what;
  mustHold(response.status === 400, `${response.status}: ${response.text.slice(0, 200)}`);
  return tally([response]);
};

const withOptions = (target: Target, options: string) =>
  target.send(
    "POST",
    "/preference_center/v1",
    `{"name":"o","preference_center_page_html":"<p>a</p>","confirmation_page_html":"<p>b</p>",` +
      `"options":${options}}`,
    { headers: { "idempotency-key": `attack-${Date.now()}-${Math.random()}` } },
  );

const MONTH_MS = 30 * 86_400_000;

const newAlias = (target: Target): Promise<Heard> =>
  target.send("POST", "/cdi/integrations/none/sync", {});

async function untilLimited(target: Target): Promise<Heard> {
  for (let turn = 0; turn < 100; turn++) {
    const response = await newAlias(target);
    if (response.status === 429) return response;
  }
  throw new Error("The rate limit was never reached.");
}

const INTEGRATION = "6e1d3c4a-93b0-4c7e-8a55-0f2b7c9d1e34";

/** A storage with an endless listing: each page names the same next one. */
async function endlessStorage(): Promise<{ endpoint: string; pages(): number; close(): void }> {
  let pages = 0;
  const server = createServer((_request, response) => {
    pages++;
    response.end(
      "<ListBucketResult><Contents><Key>in/a.csv</Key></Contents>" +
        "<NextContinuationToken>again</NextContinuationToken></ListBucketResult>",
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    pages: () => pages,
    close: () => server.close(),
  };
}

async function syncFrom(target: Target, endpoint: string): Promise<string> {
  const path = `/admin/v1/workspaces/${ATTACKED}/integrations/${INTEGRATION}`;
  const put = await target.admin("PUT", path, {
    name: "Endless",
    retry: { attempts: 1 },
    type: "attributes",
    warehouse: {
      type: "s3",
      url: "s3://crm/in/",
      format: "csv",
      endpoint,
      region: "eu-central-1",
      access_key_id: "AKIDEXAMPLE",
      secret_access_key: "secret-of-the-storage",
    },
  });
  mustHold(put.status === 200, put.text);
  await target.admin("POST", `${path}/sync`);
  for (let turn = 0; turn < 100; turn++) {
    await pause(100);
    const { results } = JSON.parse((await target.admin("GET", `${path}/runs`)).text);
    const [{ job_status: status, message = "" } = {}] = results;
    if (status && status !== "running") return `${status}: ${message}`;
  }
  return "still running after 10 s";
}

export const REQUEST_ATTACKS: readonly Attack[] = [
  {
    name: "modes of the data folder",
    before: "1,161 of 1,170 files have mode 0666",
    only: "embedded",
    run: async ({ server }) => {
      const { open, all } = await openEntries(server.dataDir);
      mustHold(open.length === 0, `${open.length} of ${all} are open to others: ${open[0]}`);
      return `0 of ${all} entries are open to others`;
    },
  },
  {
    name: "clock 30 days ahead and back, with the rate limit used up",
    before: "closed for 30 days",
    run: async (target) => {
      await untilLimited(target);
      await target.server.moveClock(MONTH_MS);
      await untilLimited(target);
      await target.server.moveClock(0);
      const { headers } = await untilLimited(target);
      const seconds = Number(headers["retry-after"]);
      mustHold(seconds <= 60, `Retry-After is ${seconds}.`);
      return `Retry-After: ${seconds}`;
    },
  },
  {
    name: "object storage that repeats its continuation token",
    before: "memory grows forever",
    run: async (target) => {
      const storage = await endlessStorage();
      try {
        const came = await syncFrom(target, storage.endpoint);
        mustHold(came.startsWith("error"), came);
        return `${storage.pages()} pages read; ${came}`;
      } finally {
        storage.close();
        await target.admin(
          "DELETE",
          `/admin/v1/workspaces/${ATTACKED}/integrations/${INTEGRATION}`,
        );
      }
    },
  },
  {
    name: "NUL in a key of options, with an Idempotency-Key",
    before: "500",
    run: (target) => refused(withOptions(target, '{"\\u0000":"a"}')),
  },
  {
    name: "lone surrogate in a key of options, with an Idempotency-Key",
    before: "500",
    run: (target) => refused(withOptions(target, '{"\\ud800":"a"}')),
  },
  {
    name: "HOST=0.0.0.0 without a manifest",
    before: "an all-permission key is created and printed",
    run: async () => {
      const open = await startServer(undefined, { HOST: "0.0.0.0" });
      try {
        mustHold(!/API key +\S/.test(open.greeting), "The greeting has an API key.");
        const response = await fetch(`${open.url}/admin/v1/workspaces`, {
          headers: { authorization: `Bearer ${open.adminToken}` },
        });
        const { workspaces } = (await response.json()) as { workspaces: unknown[] };
        mustHold(workspaces.length === 0, "There is a demo workspace.");
        return "no workspace, no key";
      } finally {
        await open.stop();
      }
    },
  },
  {
    name: "a manifest with a key of three characters",
    before: "accepted",
    run: (target) => {
      const api_keys = [{ name: "weak", key: "abc", permissions: ["all"] }];
      const workspaces = [{ name: "weak", api_keys }];
      return refused(
        target.admin("POST", "/admin/v1/apply", { company: { name: "W" }, workspaces }),
      );
    },
  },
];
