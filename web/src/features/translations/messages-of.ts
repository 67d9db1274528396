import type { Schemas } from "../../api/client.ts";

/** A message with its campaign or canvas. */
export type ListedMessage = Schemas["MessageHead"] & { readonly of: string };

/** All messages of a workspace, with the campaign, or the canvas and the step, that each belongs to. */
export const messagesOf = (
  campaigns: readonly Schemas["Campaign"][],
  canvases: readonly Schemas["Canvas"][],
): ListedMessage[] => [
  ...campaigns.flatMap(({ name, messages }) => messages.map((each) => ({ ...each, of: name }))),
  ...canvases.flatMap(({ name, steps }) =>
    steps.flatMap(({ messages }, step) =>
      messages.map((each) => ({ ...each, of: `${name}, step ${step + 1}` })),
    ),
  ),
];
