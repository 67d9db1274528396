import { hooks, type Received, refresh, type Schemas, type Sent } from "../../api/client.ts";
import { BY_CURSOR } from "../../api/pages.ts";
import { useHere, useWorkspace } from "../../api/workspace.ts";

/* Webhooks of a workspace: where its changes are delivered, the results of the last deliveries, and refused changes. */

const WEBHOOKS = "/admin/v1/workspaces/{name}/webhooks";
const WEBHOOK = `${WEBHOOKS}/{id}` as const;
const DELIVERIES = `${WEBHOOK}/deliveries` as const;
const LETTERS = `${WEBHOOK}/dead-letters` as const;
const LETTER = `${LETTERS}/{dead_letter_id}` as const;

export type Webhook = Schemas["Webhook"];
export type WebhookBody = Sent<"putWebhook">;
export type Delivery = Schemas["WebhookDelivery"];
/** The result of a delivery that a person asked for. */
export type Attempt = NonNullable<Received<"replayWebhook">["attempt"]>;
export type DeadLetter = Schemas["DeadLetter"];

/** How often an open page reads how deliveries stand. */
const READ_EVERY_MS = 5_000;

const LIVE = { refetchInterval: READ_EVERY_MS };

export const useWebhooks = () => hooks.useQuery("get", WEBHOOKS, useHere(), LIVE);

export const useWebhook = (id: string) => hooks.useQuery("get", WEBHOOK, useHere({ id }), LIVE);

/** Not refreshed automatically: the audit records each reading of receivers' responses. */
export const useDeliveries = (id: string) => hooks.useQuery("get", DELIVERIES, useHere({ id }));

export const useDeadLetters = (id: string) =>
  hooks.useInfiniteQuery("get", LETTERS, useHere({ id }), {
    ...BY_CURSOR,
    // Further pages are read once: reading ten of them every few seconds would be much for a list
    // that hardly changes.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? READ_EVERY_MS : false),
  });

export function useChangeWebhooks() {
  const workspace = useWorkspace();
  const onSuccess = () => refresh(WEBHOOKS);
  const path = (id: string) => ({ params: { path: { name: workspace, id } } });
  const put = hooks.useMutation("put", WEBHOOK, { onSuccess });
  const patch = hooks.useMutation("patch", WEBHOOK, { onSuccess });
  const remove = hooks.useMutation("delete", WEBHOOK, { onSuccess });
  const test = hooks.useMutation("post", `${WEBHOOK}/test`, { onSuccess });
  const replay = hooks.useMutation("post", `${WEBHOOK}/replay`, { onSuccess });
  const rotate = hooks.useMutation("post", `${WEBHOOK}/rotate-secret`, { onSuccess });
  const discard = hooks.useMutation("delete", LETTER, { onSuccess });
  return {
    put: (id: string, body: WebhookBody) => put.mutateAsync({ ...path(id), body }),
    setState: (id: string, state: Webhook["state"]) =>
      patch.mutateAsync({ ...path(id), body: { state } }),
    isSettingState: patch.isPending,
    remove: (id: string) => remove.mutateAsync(path(id)),
    test: (id: string) => test.mutateAsync(path(id)),
    isTesting: test.isPending,
    replay: (id: string, from: string) => replay.mutateAsync({ ...path(id), body: { from } }),
    /** @returns what became of it. */
    sendAgain: async (id: string, letter: string): Promise<Attempt | null> =>
      (await replay.mutateAsync({ ...path(id), body: { dead_letter: letter } })).attempt,
    discard: (id: string, dead_letter_id: string) =>
      discard.mutateAsync({ params: { path: { name: workspace, id, dead_letter_id } } }),
    /** @returns the new secret, which nothing shows again. */
    rotate: async (id: string, overlap_seconds: number): Promise<string> =>
      (await rotate.mutateAsync({ ...path(id), body: { overlap_seconds } })).secret,
  };
}
