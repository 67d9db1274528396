import type { Queryable } from "../database/database.ts";
import type { SentMessage } from "./activity.ts";
import {
  selectEventsBefore,
  selectMessagesBefore,
  selectPurchasesBefore,
  type TimedEvent,
  type TimedPurchase,
  type TimelineRange,
} from "./timeline-store.ts";

export type { TimedEvent, TimedPurchase } from "./timeline-store.ts";

/* The events, purchases and messages of one person, the newest first. */

type Read<Row> = (
  database: Queryable,
  workspaceId: number,
  profileId: string,
  range: TimelineRange,
) => Promise<Row[]>;

export const readEventsBefore: Read<TimedEvent> = selectEventsBefore;

export const readPurchasesBefore: Read<TimedPurchase> = selectPurchasesBefore;

export const readMessagesBefore: Read<SentMessage> = selectMessagesBefore;
