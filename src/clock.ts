import { v7 } from "uuid";

/** Time and identity, in one place so that tests can decide both. */
export interface Clock {
  now(): Date;
  /** A UUIDv7: unique, and in the order of creation. */
  newId(): string;
}

export const systemClock: Clock = {
  now: () => new Date(),
  newId: () => v7(),
};
