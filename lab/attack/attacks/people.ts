import { ATTACKED, GROUP } from "../attacked-server.ts";
import { type Attack, type Heard, mustHold, scaled, type Target, tally, times } from "../target.ts";

/* Attacks with a workspace's own data about people: users who share an address, and large profiles. */

const EMAIL = "shared@example.com";

/** The number of users who share the address. */
const SHARED = 40_000;

const ROWS = 1_000;

let link = "";
let prepared: Target["server"] | undefined;

/** Fills the workspace once for each server. */
async function shareAddress(target: Target): Promise<void> {
  if (prepared === target.server) return;
  prepared = target.server;
  const count = scaled(target, SHARED);
  for (let from = 0; from < count; from += ROWS) {
    const rows = times(Math.min(ROWS, count - from), (index) => ({
      external_id: `sharer-${from + index}`,
      email: EMAIL,
      first_name: "x".repeat(200),
    }));
    const body = { kind: "users", first_row: from + 1, rows };
    const imported = await target.admin(
      "POST",
      `/admin/v1/workspaces/${ATTACKED}/imports/shared-${count}`,
      body,
    );
    mustHold(imported.status === 200, imported.text.slice(0, 300));
  }
  const center = await target.send("POST", "/preference_center/v1", {
    name: `shared-${Date.now()}`,
    preference_center_title: "t",
    preference_center_page_html: "<p>Page</p>",
    confirmation_page_html: "<p>Saved</p>",
  });
  const id = (JSON.parse(center.text) as { preference_center_api_id: string })
    .preference_center_api_id;
  const { text } = await target.send("GET", `/preference_center/v1/${id}/url/sharer-1`);
  link = new URL((JSON.parse(text) as { preference_center_url: string }).preference_center_url)
    .pathname;
}

const shared = (
  name: string,
  before: string,
  send: (target: Target) => Promise<Heard>,
): Attack => ({
  name: `${SHARED.toLocaleString("en")} users at one address: ${name}`,
  before,
  bounds: { healthP99Ms: 100, grownMb: 200 },
  prepare: shareAddress,
  async run(target) {
    const heard = await send(target);
    mustHold(heard.status < 300, `${heard.status}: ${heard.text.slice(0, 200)}`);
    return tally([heard]);
  },
});

const CALLERS = 32;
export const PAIRS = 50;

/**
 * About 900 KB, stored in little space, with names that other attacks have used: a workspace may
 * have 5,000 names.
 */
const largeAttributes = (external_id: string, part: number) => ({
  external_id,
  [`a0_${part}`]: times(400, () => external_id.padEnd(250, "x")),
});

/** The number of merges of the users that were filled. */
export const mergesOf = (pairs: number) =>
  times(pairs, (index) => ({
    identifier_to_merge: { external_id: `pair-${index}` },
    identifier_to_keep: { external_id: `pair-${pairs + index}` },
  }));

export async function fillLarge(target: Target): Promise<void> {
  for (let index = 0; index < scaled(target, 2 * PAIRS); index++) {
    const attributes = times(9, (part) => largeAttributes(`pair-${index}`, part));
    const filled = await target.send("POST", "/users/track", { attributes });
    mustHold(filled.status === 201, filled.text.slice(0, 200));
  }
}

export const PEOPLE_ATTACKS: readonly Attack[] = [
  shared("email/status", "16.7 s, health waits 8.2 s", (target) =>
    target.send("POST", "/email/status", { email: EMAIL, subscription_state: "unsubscribed" }),
  ),
  shared("a subscription set", "17 s", (target) =>
    target.send("POST", "/v2/subscription/status/set", {
      subscription_groups: [
        { subscription_group_id: GROUP, subscription_state: "subscribed", emails: [EMAIL] },
      ],
    }),
  ),
  shared("track by email", "17 s", (target) =>
    target.send("POST", "/users/track", {
      events: [{ email: EMAIL, name: "came", time: "2026-01-01T00:00:00Z" }],
    }),
  ),
  shared("one-click unsubscribe", "9.8 s, without a key", (target) =>
    target.send("POST", link, "List-Unsubscribe=One-Click", {
      token: "",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    }),
  ),
  {
    name: `${CALLERS} callers with dry runs of ${PAIRS} large merges`,
    before: "4 GB, others wait 46 s",
    bounds: { grownMb: 800, trackShare: 0.5 },
    prepare: fillLarge,
    async run(target) {
      const pairs = scaled(target, PAIRS);
      const merge_updates = mergesOf(pairs);
      const call = (updates: object) =>
        target.send("POST", "/users/merge", { merge_updates: updates, dry_run: true });
      const heard = await Promise.all([
        ...times(CALLERS / 2, () => call(merge_updates)),
        ...times(CALLERS / 2, (index) =>
          call(merge_updates.slice(index % pairs, (index % pairs) + 4)),
        ),
      ]);
      const largest = Math.max(...heard.map(({ text }) => text.length));
      mustHold(largest < 16 * 1_048_576, `A response has ${largest} bytes.`);
      return `${tally(heard)}, the largest ${(largest / 1_048_576).toFixed(1)} MB`;
    },
  },
];
