import Type, { type Static } from "typebox";
import { checkContacts } from "../../core/admin/workspaces/contacts.ts";
import { DeclaredId, Name } from "../../core/admin/workspaces/manifest.ts";
import type {
  Colleagues,
  ConfigChange,
  Entry as EntryOfResource,
  Resource,
} from "../../core/admin/workspaces/resource.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import {
  ClosedObject,
  distinctList,
  patterned,
  Text,
  TextOrNull,
} from "../../core/base/values/schemas.ts";
import type { Transaction } from "../../core/database/database.ts";
import { OutboundRefused } from "../../core/outbound/outbound.ts";
import { ReachRefused } from "../../core/outbound/reach-refused.ts";
import { CHANGE_TYPES } from "../../core/people/changes/change.ts";
import {
  addressesIn,
  addressesRule,
  areAddresses,
} from "../../core/people/profiles/address-list.ts";
import { readWebhooks } from "./manage.ts";
import {
  removeWebhooks,
  type SaveServices,
  saveWebhook,
  type WantedWebhook,
} from "./save-webhook.ts";
import { SECRET_PATTERN } from "./sign.ts";
import { selectWebhooks } from "./store.ts";
import { MOST_WEBHOOKS, type StoredWebhook, WEBHOOK_STATES } from "./webhook.ts";

const TIME = "2026-01-31T12:00:00.000Z";

/** An `http:` or `https:` URL without a user or a password. */
function isReceiver(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.password;
}

const Url = Type.Refine(
  Text("Gets a POST for each batch of changes.", "https://crm.example/rapport", {
    maxLength: 2_048,
  }),
  isReceiver,
  () => "must be an http: or https: URL without a user or a password",
);

const Types = distinctList(Type.Enum([...CHANGE_TYPES]), {
  maxItems: CHANGE_TYPES.length,
  description: "The types of changes to deliver; all if it is empty or absent.",
});

const ContactEmails = Type.Refine(
  Type.String({
    maxLength: 2_000,
    description:
      "Addresses to notify when the webhook is paused automatically, separated by commas.",
  }),
  areAddresses,
  addressesRule,
);

const State = Type.Enum([...WEBHOOK_STATES], {
  description: "A paused webhook keeps its place in the feed. active by default.",
});

const DeclaredWebhook = ClosedObject({
  id: DeclaredId,
  name: Name,
  url: Url,
  secret: Type.Optional(
    Text(
      "Signs each delivery: `whsec_` and 24 to 64 bytes in base64. Without a secret the present one stays; a new webhook gets one, which `rotate-secret` replaces and shows.",
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      patterned(SECRET_PATTERN, "must be 'whsec_' and 24 to 64 bytes in base64"),
    ),
  ),
  types: Type.Optional(Types),
  state: Type.Optional(State),
  contact_emails: Type.Optional(ContactEmails),
});

type Declared = Static<typeof DeclaredWebhook>;

const wantedOf = ({
  id,
  name,
  url,
  secret,
  types = [],
  state = "active",
  contact_emails = "",
}: Declared): WantedWebhook => ({
  id,
  name,
  url,
  secret,
  types: [...types],
  state,
  contactEmails: addressesIn(contact_emails),
});

const declarationOf = ({ id, name, url, types, state, contactEmails }: StoredWebhook) => ({
  id,
  name,
  url,
  types,
  state,
  ...(contactEmails.length > 0 && { contact_emails: contactEmails.join(", ") }),
});

const wantedMembers = ({ name, url, types, contact_emails }: EntryOfResource) => ({
  name,
  url,
  types,
  contact_emails,
});

/** No secrets and no address: an audit row outlives what it describes. */
const changeOf = (
  { workspace }: WorkspaceContext,
  action: ConfigChange["action"],
  { name, types, state }: Pick<WantedWebhook, "name" | "types" | "state">,
): ConfigChange => ({
  action,
  kind: "webhook",
  workspace: workspace.name,
  name,
  ...(action !== "removed" && { details: { types, state } }),
});

async function save(
  tx: Transaction,
  services: SaveServices & Colleagues,
  context: WorkspaceContext,
  entry: Declared,
  stored: StoredWebhook | undefined,
  how: Parameters<typeof saveWebhook>[5],
  path: readonly (string | number)[] = [],
): Promise<ConfigChange[]> {
  const wanted = wantedOf(entry);
  const { contactEmails } = wanted;
  await checkContacts(tx, services, context, contactEmails, stored?.contactEmails ?? [], path);
  const action = await saveWebhook(tx, services, context.workspace.id, wanted, stored, how);
  if (action === undefined) return [];
  const { types, state } = stored ?? {};
  return [{ ...changeOf(context, action, wanted), ...(stored && { before: { types, state } }) }];
}

/** The receivers of a workspace's changes. Removing a webhook removes its place in the feed. */
export const webhooks: Resource = {
  key: "webhooks",
  about: `Where to deliver changes of users, at most ${MOST_WEBHOOKS}. docs/webhooks.md`,
  schema: DeclaredWebhook,
  identity: "id",
  permissions: { read: "manage_external_integrations", write: "admin" },
  view: {
    id: DeclaredId,
    name: Name,
    url: Type.String({ description: "Gets a POST for each batch of changes." }),
    types: Types,
    state: State,
    contact_emails: Type.String({
      description:
        "Addresses to notify when the webhook is paused automatically, separated by commas.",
    }),
    paused_reason: TextOrNull(
      "Why it was paused automatically; null if it was not. PUT with `active` resumes it.",
      "The receiver responded with 410: it wants no more deliveries.",
    ),
    behind_since: TextOrNull(
      "When the oldest change was written that is under way; null if there is none.",
      TIME,
    ),
    failing_since: TextOrNull("Since when a batch fails; null if none does.", TIME),
    previous_secret_until: TextOrNull(
      "Until when the previous secret signs as well; null if there was none.",
      TIME,
    ),
    declared: Type.Boolean({ description: "Whether a manifest declared it." }),
  },

  async check({ outbound, mustResolve = false }, _workspaceName, entries: readonly Declared[]) {
    for (const [index, { name, url }] of entries.entries()) {
      const { protocol, hostname, port } = new URL(url);
      const number = Number(port || (protocol === "http:" ? 80 : 443));
      await outbound.check(hostname, number, { mustResolve }).catch((error: unknown) => {
        if (!(error instanceof OutboundRefused)) throw error;
        const body = { path: ["webhooks", index, "url"] };
        const message = `The 'url' of the webhook '${name}': ${error.message}`;
        throw new ReachRefused({ kind: "webhook", name }, "INVALID_REQUEST", message, { body });
      });
    }
  },

  async apply(tx, services, context, entries: readonly Declared[]) {
    const { workspace } = context;
    const all = await selectWebhooks(tx, workspace.id);
    const ids = new Set(entries.map(({ id }) => id));
    const removed = all.filter(({ id, declared }) => declared && !ids.has(id));
    await removeWebhooks(
      tx,
      workspace.id,
      removed.map(({ id }) => id),
    );
    const changes = removed.map((each) => changeOf(context, "removed", each));
    for (const [index, entry] of entries.entries()) {
      const stored = all.find(({ id }) => id === entry.id);
      // One that paused stays so at every start of a server.
      const how = { declared: true, resumes: false };
      const path = ["webhooks", index];
      changes.push(...(await save(tx, services, context, entry, stored, how, path)));
    }
    return changes;
  },

  async declaration(database, { secret }, { workspace }) {
    const all = await selectWebhooks(database, workspace.id);
    return all.map((each) => ({
      ...declarationOf(each),
      secret: secret("webhook", workspace.name, each.name),
    }));
  },

  async read(database, { workspace }) {
    const all = await readWebhooks(database, workspace.id);
    return all.map((each) => ({
      ...declarationOf(each),
      contact_emails: each.contactEmails.join(", "),
      state: each.pausedReason === null ? each.state : "paused",
      paused_reason: each.pausedReason,
      behind_since: each.behindSince?.toISOString() ?? null,
      failing_since: each.failingSince?.toISOString() ?? null,
      previous_secret_until: each.previousUntil?.toISOString() ?? null,
      declared: each.declared,
    }));
  },

  // The secret is not read: without one, PUT keeps what is stored by then.
  present: (_database, _services, _context, shown) => ({
    ...wantedMembers(shown),
    // A webhook that was paused automatically stays so unless a PATCH sends its state.
    state: shown.paused_reason === null ? shown.state : "active",
  }),
  keptSecrets: () => ({ secrets: ["secret"], destination: ["url"] }),

  async put(tx, services, context, entry, patch) {
    if (patch?.secret === null) {
      const message = "'secret' must not be null: a webhook has one, which rotate-secret replaces";
      throw new Problem("INVALID_REQUEST", message);
    }
    const wanted = entry as Declared;
    const all = await selectWebhooks(tx, context.workspace.id);
    const stored = all.find(({ id }) => id === wanted.id);
    const sendsState = patch === undefined || "state" in patch;
    const declared = stored?.declared ?? false;
    const how = { declared, resumes: sendsState, staysPaused: !sendsState };
    return save(tx, services, context, wanted, stored, how);
  },

  async remove(tx, _services, context, entry) {
    await removeWebhooks(tx, context.workspace.id, [String(entry.id)]);
    return [changeOf(context, "removed", { name: String(entry.name), types: [], state: "active" })];
  },
};
