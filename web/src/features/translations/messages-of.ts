/** A message with its campaign or canvas. */
export interface ListedMessage {
  readonly id: string;
  readonly of: string;
  readonly channel: string;
  readonly multi_language: boolean;
}

interface Message {
  readonly id: string;
  readonly channel: string;
  readonly multi_language: boolean;
}

interface Campaign {
  readonly name: string;
  readonly messages: readonly Message[];
}

interface Canvas {
  readonly name: string;
  readonly steps: readonly { readonly messages: readonly Message[] }[];
}

/** All messages of a workspace, with the campaign, or the canvas and the step, that each belongs to. */
export const messagesOf = (
  campaigns: readonly Campaign[],
  canvases: readonly Canvas[],
): ListedMessage[] => [
  ...campaigns.flatMap(({ name, messages }) => messages.map((each) => ({ ...each, of: name }))),
  ...canvases.flatMap(({ name, steps }) =>
    steps.flatMap(({ messages }, step) =>
      messages.map((each) => ({ ...each, of: `${name}, step ${step + 1}` })),
    ),
  ),
];
