import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { Webhook } from "standardwebhooks";
import type { Answer, TestServer, TestWorkspace } from "./harness.ts";

/** Of every webhook of the tests that does not choose its own. */
export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

export interface Delivered {
  readonly id: string;
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly changes: readonly any[];
}

export type Respond = (
  response: ServerResponse,
  delivered: Delivered,
  request: IncomingMessage,
) => void;

export const accept: Respond = (response) => void response.writeHead(204).end();

export const respondWith =
  (status: number, headers: Record<string, string> = {}): Respond =>
  (response) =>
    void response.writeHead(status, headers).end();

export interface Receiver {
  readonly url: string;
  /** All requests, accepted or not. */
  readonly received: Delivered[];
  /** How it responds from now on. */
  respond: Respond;
  /** The accepted changes, in the order of arrival. */
  readonly accepted: readonly any[];
}

/** A receiver on this machine. */
export async function startReceiver(respond: Respond = accept): Promise<Receiver> {
  const received: Delivered[] = [];
  const accepted: any[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const headers = request.headers as Record<string, string>;
    const { changes } = JSON.parse(text);
    const delivered = { id: headers["webhook-id"] ?? "", headers, text, changes };
    received.push(delivered);
    response.on("error", () => {});
    receiver.respond(response, delivered, request);
    if (Math.floor(response.statusCode / 100) === 2 && response.headersSent) {
      accepted.push(...changes);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const receiver: Receiver = { url, received, respond, accepted };
  return receiver;
}
/** Whether a delivery is signed for its own time, regardless of the present time. */
export const isSigned = ({ id, text, headers }: Delivered): boolean => {
  const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
  return headers["webhook-signature"] === new Webhook(SECRET).sign(id, at, text);
};

/** @throws if the signature is wrong, or its time is not about now. */
export const verify = ({ text, headers }: Delivered, secret = SECRET): unknown =>
  new Webhook(secret).verify(text, headers);

/** The webhooks of a workspace as an administrator sees them. */
export const webhooksOf = (server: TestServer, { name }: TestWorkspace) => {
  const path = `/admin/v1/workspaces/${name}/webhooks`;
  const must = async (sent: Promise<Answer<any>>): Promise<any> => {
    const { status, body } = await sent;
    assert.ok(status < 300, JSON.stringify(body));
    return body;
  };
  return {
    path,
    /** Creates or changes a webhook. @returns its id. */
    async put(url: string, members: object = {}, id: string = randomUUID()): Promise<string> {
      const body = { name: "CRM", url, secret: SECRET, ...members };
      await must(server.admin("PUT", `${path}/${encodeURIComponent(id)}`, body));
      return id;
    },
    get: (id: string) => must(server.admin("GET", `${path}/${encodeURIComponent(id)}`)),
    post: (id: string, verb: string, body: object = {}) =>
      must(server.admin("POST", `${path}/${encodeURIComponent(id)}/${verb}`, body)),
    deliveries: async (id: string): Promise<any[]> =>
      (await must(server.admin("GET", `${path}/${encodeURIComponent(id)}/deliveries`))).deliveries,
    deadLetters: async (id: string): Promise<any[]> =>
      (await must(server.admin("GET", `${path}/${encodeURIComponent(id)}/dead-letters`)))
        .dead_letters,
  };
};

/** Users who are created together. */
export const users = (count: number, prefix = "u", members: object = {}) => ({
  attributes: Array.from({ length: count }, (_, index) => ({
    external_id: `${prefix}${index}`,
    ...members,
  })),
});
