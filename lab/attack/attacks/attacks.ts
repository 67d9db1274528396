import type { Attack } from "../target.ts";
import { CONNECTION_ATTACKS } from "./connections.ts";
import { FEED_ATTACKS } from "./feed.ts";
import { PAGE_ATTACKS } from "./pages.ts";
import { PEOPLE_ATTACKS } from "./people.ts";
import { READER_ATTACKS } from "./readers.ts";
import { REQUEST_ATTACKS } from "./requests.ts";
import { SCIM_ATTACKS } from "./scim.ts";
import { SEGMENT_ATTACKS } from "./segments.ts";
import { TRACK_ATTACKS } from "./track.ts";
import { TRANSLATION_ATTACKS } from "./translations.ts";
import { WAITING_ATTACKS } from "./waiting.ts";

/** The attacks of a penetration test and of follow-up tests, each bounded in count and time. */
export const ATTACKS: readonly Attack[] = [
  // First: others use up the names of attributes that a workspace may have.
  ...SEGMENT_ATTACKS,
  ...TRACK_ATTACKS,
  ...PEOPLE_ATTACKS,
  ...READER_ATTACKS,
  ...FEED_ATTACKS,
  ...PAGE_ATTACKS,
  ...SCIM_ATTACKS,
  ...TRANSLATION_ATTACKS,
  ...CONNECTION_ATTACKS,
  ...REQUEST_ATTACKS,
  ...WAITING_ATTACKS,
];
