import Type from "typebox";

/** The states of an email address; one without a state counts as subscribed. */
export const EMAIL_STATES = ["subscribed", "unsubscribed", "opted_in"] as const;

export type EmailState = (typeof EMAIL_STATES)[number];

export const EmailStateName = Type.Enum([...EMAIL_STATES]);
