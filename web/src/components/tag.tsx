import type { ReactNode } from "react";

export type Tone = "good" | "bad" | "warn" | "info" | "plain";

/** A state in a word. */
export function Tag({
  tone = "plain",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return (
    <span className="tag" data-tone={tone}>
      {children}
    </span>
  );
}

const TONES: Readonly<Record<string, Tone>> = {
  subscribed: "good",
  opted_in: "good",
  unsubscribed: "plain",
  success: "good",
  active: "good",
  draft: "plain",
  running: "info",
  partial: "warn",
  error: "bad",
  config_error: "bad",
  failed: "bad",
  revoked: "bad",
};

/** A state as the API names it: `opted_in` is shown as "Opted in". */
export function StateTag({ state }: { readonly state: string | null }) {
  if (state === null) return <Tag>Not set</Tag>;
  return <Tag tone={TONES[state] ?? "plain"}>{sentence(state)}</Tag>;
}

/** `opted_in` as "Opted in". */
export const sentence = (name: string): string => {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const CHANNELS: Readonly<Record<string, string>> = { sms: "SMS", whatsapp: "WhatsApp" };

/** A channel as people write it. */
export const channelName = (channel: string): string => CHANNELS[channel] ?? sentence(channel);
