import { randomBytes, randomUUID } from "node:crypto";

/*
 * A plausible success for each kind of call that Rapport does not serve: the status, and the members that clients
 * read, as the public documentation shows them. Lists are empty.
 */

export interface CallParts {
  readonly params: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly now: Date;
}

export interface CapturedReply {
  readonly status: 200 | 201 | 202;
  readonly body: Record<string, unknown>;
}

export type Replier = (parts: CallParts) => CapturedReply;

const success = (status: CapturedReply["status"], body: Record<string, unknown> = {}) => ({
  status,
  body: { ...body, message: "success" },
});

/** Ids of sends are 32 hexadecimal digits. */
const newSendId = () => randomBytes(16).toString("hex");

export const found: Replier = () => success(200);
export const created: Replier = () => success(201);
export const queued: Replier = () => success(202);

export const listOf =
  (name: string): Replier =>
  () =>
    success(200, { [name]: [] });

export const countedListOf =
  (name: string): Replier =>
  () =>
    success(200, { count: 0, [name]: [] });

/** Figures of the last days: there are none. */
export const series = listOf("data");

export const dispatched: Replier = () => success(201, { dispatch_id: newSendId() });

export const scheduled: Replier = () =>
  success(201, { dispatch_id: newSendId(), schedule_id: randomUUID() });

export const transactional: Replier = ({ params, body, now }) => ({
  status: 201,
  body: {
    dispatch_id: newSendId(),
    status: "sent",
    metadata: {
      received_at: now.toISOString(),
      external_send_id: body?.external_send_id,
      campaign_api_id: params.campaign,
    },
  },
});

export const sendId: Replier = ({ body }) =>
  success(201, { send_id: body?.send_id ?? newSendId() });

/** Bodies are taken as they are: a name may be anything. */
const liquidTagOf = (name: unknown): string =>
  `{{content_blocks.\${${typeof name === "string" ? name : ""}}}}`;

export const contentBlockCreated: Replier = ({ body, now }) =>
  success(201, {
    content_block_id: randomUUID(),
    liquid_tag: liquidTagOf(body?.name),
    created_at: now.toISOString(),
  });

export const contentBlockUpdated: Replier = ({ body, now }) =>
  success(201, {
    content_block_id: body?.content_block_id,
    liquid_tag: liquidTagOf(body?.name),
    updated_at: now.toISOString(),
  });

export const templateCreated: Replier = () => success(201, { email_template_id: randomUUID() });

export const templateUpdated: Replier = ({ body }) =>
  success(201, { email_template_id: body?.email_template_id });

export const catalogCreated: Replier = ({ body }) => success(201, { catalogs: body?.catalogs });

export const itemFound: Replier = ({ params }) => success(200, { items: [{ id: params.item }] });

export const assetCreated: Replier = ({ body }) =>
  success(200, { new_assets: [{ name: body?.name, url: body?.asset_url }], errors: [] });

export const keyCreated: Replier = () => success(201, { id: randomUUID() });

/** The prefix in a bucket under which the export would be written. */
export const exported: Replier = ({ now }) =>
  success(201, { object_prefix: `${randomUUID()}-${Math.floor(now.getTime() / 1_000)}` });
