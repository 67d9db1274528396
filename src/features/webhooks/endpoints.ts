import Type, { type Static } from "typebox";
import {
  DEFAULT_OVERLAP_SECONDS,
  rotationBody,
} from "../../core/admin/access/credential-endpoints.ts";
import { type AuditingServices, recordRead } from "../../core/admin/audit/audit.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import { Problem } from "../../core/base/problem.ts";
import {
  ClosedObject,
  IntegerOrNull,
  named,
  nullable,
  OfWorkspace,
  OnlySuccess,
  Success,
  succeeding,
  Text,
  TextOrNull,
} from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import { CHANGE_TYPES, type ChangeType } from "../../core/people/changes/change.ts";
import type { DeadLetter, Delivery } from "./deliveries-store.ts";
import { discardDeadLetter, listDeadLetters, listDeliveries, rotateSecret } from "./manage.ts";
import { type ReplayServices, replayDeadLetter, replayFrom, testWebhook } from "./replay.ts";
import type { Attempt } from "./send.ts";

const ONE = "/admin/v1/workspaces/:name/webhooks/:id";

const TIME = "2026-01-31T12:00:00.000Z";
const CHANGE_ID = "0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a1c20-ch8-1z";
const LETTER_ID = "0199f0a1-2b3c-7d4e-8f50-617283940a1b";

const DeadLetterId = Text("The id of a dead letter.", LETTER_ID);

const OfWebhook = Type.Object({ ...OfWorkspace.properties, id: Type.String() });

const ATTEMPT = {
  outcome: Type.Enum(["delivered", "failed", "refused", "gone", "missed"], {
    description:
      "delivered; failed: it is tried again; refused: a 4xx, so the batch is split; gone: a 410; missed: the feed kept the changes no longer.",
  }),
  status: IntegerOrNull("The status of the response; null without a response.", 204),
  response: TextOrNull("Its first 500 characters.", "ok"),
  error: TextOrNull("Why there was no response.", "No response within 15 seconds."),
  at: Type.String(),
  duration_ms: Type.Integer({ description: "How long it took.", examples: [21] }),
};

const attemptOf = ({
  outcome,
  status,
  response,
  error,
  at,
  durationMs,
}: Pick<Delivery, "outcome" | "status" | "response" | "error" | "at" | "durationMs">) => ({
  outcome,
  status,
  response,
  error,
  at: at.toISOString(),
  duration_ms: durationMs,
});

const DeliveryView = named("WebhookDelivery", {
  webhook_id: Text(
    "The header webhook-id: the same for all attempts of a batch.",
    "msg_0199f0a0-7c1d-7b1e-8a3d-9b4a7d3a1c20",
  ),
  kind: Type.Enum(["live", "replay", "dead_letter", "test"], { description: "Why it was sent." }),
  changes: Type.Integer({ description: "How many changes it had.", examples: [12] }),
  first_change_id: TextOrNull("The id of its first change; null if it had none.", CHANGE_ID),
  attempt: Type.Integer({ description: "Which attempt it was, from 1.", examples: [1] }),
  ...ATTEMPT,
  next_attempt_at: TextOrNull("When it is tried again; null if it is not.", TIME),
});

const deliveryOf = (delivery: Delivery): Static<typeof DeliveryView> => ({
  webhook_id: delivery.messageId,
  kind: delivery.kind,
  changes: delivery.changes,
  first_change_id: delivery.firstChangeId,
  attempt: delivery.attempt,
  ...attemptOf(delivery),
  next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
});

const deliveries = endpoint({
  name: "listWebhookDeliveries",
  method: "GET",
  path: `${ONE}/deliveries`,
  summary: "Lists the last 100 attempts of a webhook, the newest first.",
  // A receiver may repeat the contents of its request.
  access: byAdministratorOfWorkspace("manage_external_integrations", "view_pii"),
  params: OfWebhook,
  replies: succeeding({
    deliveries: Type.Array(DeliveryView, { description: "The newest first." }),
  }),
  refusals: ["NOT_FOUND"],
}).handledBy(async (services: StoringServices & AuditingServices, context, { params }) => {
  const found = await listDeliveries(services, context, params.id);
  await recordRead(services, context, "webhook_deliveries", "all");
  return success({ deliveries: found.map(deliveryOf) });
});

const DeadLetterView = named("DeadLetter", {
  dead_letter_id: DeadLetterId,
  change_id: Text("The id of the change in the feed.", CHANGE_ID),
  type: Type.Enum([...CHANGE_TYPES]),
  status: IntegerOrNull("The refusal.", 422),
  at: Type.String(),
});

const letterOf = ({ id, changeId, type, status, at }: DeadLetter) => ({
  dead_letter_id: id,
  change_id: changeId,
  type: type as ChangeType,
  status,
  at: at.toISOString(),
});

const deadLetters = endpoint({
  name: "listWebhookDeadLetters",
  method: "GET",
  path: `${ONE}/dead-letters`,
  summary: "Lists the changes that the receiver of a webhook refused, the newest first.",
  access: byAdministratorOfWorkspace("manage_external_integrations"),
  params: OfWebhook,
  query: Type.Object({
    cursor: Type.Optional(Type.String({ maxLength: 64 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  }),
  replies: succeeding({
    dead_letters: Type.Array(DeadLetterView, {
      description: "The changes themselves stay in the feed for as long as it keeps them.",
    }),
    next_cursor: Type.Optional(Type.String()),
  }),
  refusals: ["NOT_FOUND"],
}).handledBy(async (services: StoringServices, context, { params, query }) => {
  const { cursor, limit = 100 } = query;
  const { rows, next } = await listDeadLetters(services, context, params.id, { cursor, limit });
  return success({ dead_letters: rows.map(letterOf), ...next });
});

const discard = endpoint({
  name: "discardWebhookDeadLetter",
  method: "DELETE",
  path: `${ONE}/dead-letters/:dead_letter_id`,
  summary: "Gives up a change that the receiver of a webhook refused.",
  access: byAdministratorOfWorkspace("admin"),
  params: Type.Object({ ...OfWebhook.properties, dead_letter_id: DeadLetterId }),
  replies: { 200: OnlySuccess },
  refusals: ["NOT_FOUND"],
}).handledBy(async (services: StoringServices, context, { params }) => {
  await discardDeadLetter(services, context, params.id, params.dead_letter_id);
  return success();
});

const AttemptReply = Type.Object({ ...ATTEMPT, message: Success });

const test = endpoint({
  name: "testWebhook",
  method: "POST",
  path: `${ONE}/test`,
  summary: "Sends a signed delivery without changes to a webhook, and shows the response.",
  access: byAdministratorOfWorkspace("manage_external_integrations"),
  params: OfWebhook,
  replies: { 200: AttemptReply },
  refusals: ["NOT_FOUND", "RATE_LIMITED"],
  takesLong: true,
  waits: true,
}).handledBy(async (services: ReplayServices, context, { params }) => {
  const attempt: Attempt = await testWebhook(services, context, params.id);
  return success(attemptOf(attempt));
});

const replay = endpoint({
  name: "replayWebhook",
  method: "POST",
  path: `${ONE}/replay`,
  summary:
    "Delivers changes to a webhook again: all from a place in the feed on, or a dead letter.",
  description:
    "From a position: in the background, beside new changes, one batch a second for each partition. A dead letter: at once, and the response shows the attempt. Changes and their ids are the same as before.",
  examples: { "From a time on": { from: "2026-01-31T12:00:00Z" } },
  access: byAdministratorOfWorkspace("admin"),
  params: OfWebhook,
  body: ClosedObject({
    from: Type.Optional(
      Text("A cursor of the feed, `beginning`, or a time in ISO 8601.", "2026-01-31T12:00:00Z", {
        minLength: 1,
        maxLength: 512,
      }),
    ),
    dead_letter: Type.Optional(
      Text("The id of a dead letter.", LETTER_ID, { minLength: 1, maxLength: 64 }),
    ),
  }),
  replies: succeeding({
    attempt: nullable(Type.Object(ATTEMPT), {
      description: "The outcome for the dead letter; null for a replay from a position.",
    }),
  }),
  refusals: ["NOT_FOUND", "GONE", "RATE_LIMITED"],
  takesLong: true,
  waits: true,
}).handledBy(async (services: ReplayServices, context, { params, body }) => {
  const { from, dead_letter: letter } = body;
  if ((from === undefined) === (letter === undefined)) {
    throw new Problem("INVALID_REQUEST", "Give either 'from' or 'dead_letter'.");
  }
  const attempt =
    letter === undefined
      ? await replayFrom(services, context, params.id, from ?? "")
      : await replayDeadLetter(services, context, params.id, letter);
  return success({ attempt: attempt ? attemptOf(attempt) : null });
});

const rotate = endpoint({
  name: "rotateWebhookSecret",
  method: "POST",
  path: `${ONE}/rotate-secret`,
  summary:
    "Gives a webhook a new secret, shown once; the previous one signs as well for an overlap.",
  access: byAdministratorOfWorkspace("admin"),
  secrets: ["secret"],
  params: OfWebhook,
  body: rotationBody("How long the previous secret signs as well. A day by default."),
  replies: succeeding({
    secret: Text("The secret. It is shown once.", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    previous_secret_until: Text("Until when the previous secret signs as well.", TIME),
  }),
  refusals: ["NOT_FOUND", "CONFLICT"],
}).handledBy(
  async (services: StoringServices & { readonly sealing: Sealing }, context, { params, body }) => {
    const seconds = body.overlap_seconds ?? DEFAULT_OVERLAP_SECONDS;
    const { secret, previousUntil } = await rotateSecret(services, context, params.id, seconds);
    return {
      status: 200,
      headers: { "cache-control": "no-store" },
      body: { secret, previous_secret_until: previousUntil.toISOString(), message: "success" },
    };
  },
);

export const webhookEndpoints = [deliveries, deadLetters, discard, test, replay, rotate];
