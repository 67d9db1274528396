import Type from "typebox";
import { ChangeView } from "../../core/people/changes/change-view.ts";
import { type Components, published } from "./schemas.ts";

type Json = Record<string, unknown>;

const header = (name: string, description: string, example: string): Json => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example,
});

const Delivery = Type.Object({
  changes: Type.Array(ChangeView, { description: "At most 500, in order." }),
});

const EXAMPLE = {
  changes: [
    {
      id: "0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a1c20-ch8-1z",
      type: "email_state.changed",
      at: "2026-01-31T12:00:00.000Z",
      user: { platform_id: "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e", external_id: "ada" },
      email: "ada@example.com",
      before: "subscribed",
      after: "unsubscribed",
      source: "POST /email/status",
    },
  ],
};

/** Rapport's requests to the receivers of webhooks: docs/webhooks.md. */
export const webhooksOf = (components: Components): Json => ({
  changes: {
    post: {
      operationId: "receiveChanges",
      summary: "A batch of the change feed.",
      // It is signed instead.
      security: [],
      description:
        "Signed as Standard Webhooks. It is sent again, with the same `webhook-id`, until the receiver responds with a 2xx within 15 seconds.",
      parameters: [
        header("webhook-id", "The same at every attempt.", "msg_0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a"),
        header("webhook-timestamp", "When this attempt was made.", "1769860800"),
        header(
          "webhook-signature",
          "`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64; two while a secret changes.",
          "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
        ),
      ],
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: published(components, Delivery), example: EXAMPLE },
        },
      },
      responses: {
        "2XX": { description: "The batch is accepted." },
        "410": { description: "The webhook pauses." },
        "4XX": {
          description:
            "The batch is split until the change is found that is refused, which becomes a dead letter. 408, 425 and 429 are tried again instead.",
        },
        default: { description: "The batch is tried again." },
      },
    },
  },
});
