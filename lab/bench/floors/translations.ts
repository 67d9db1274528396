import { MESSAGE_IDS } from "../engines/message.ts";
import { SEEDED_WORKSPACE } from "../engines/seed.ts";
import type { FloorWork } from "./floor-work.ts";

/* The reads of a message in all its locales: the rows with its strings, unchanged. */

const statements = {
  translations: `
    select locale_id, translation_map from message_translations
    where workspace_id = ${SEEDED_WORKSPACE} and message_id = '${MESSAGE_IDS.message}'`,
};

export const translationsFloor: FloorWork = {
  postgres: { connections: 4, unitsPerBatch: 1, statements },
  embedded: { connections: 1, unitsPerBatch: 1, statements },
  write: (messages) => messages.execute("translations", []),
};
