import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { readTogether } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { portionToRead } from "./estimate.ts";
import { selectFrequentValues } from "./members-store.ts";

/** How many users of a sample are looked at, and how many values are shown. */
const LOOKED_AT = 1_000;
const SHOWN = 20;

/** Frequent texts, numbers and booleans of an attribute, for a form that asks for one. */
export const suggestValues = (
  { database }: StoringServices,
  { workspace }: WorkspaceContext,
  kind: "attribute" | "custom_attribute",
  name: string,
): Promise<(string | number | boolean)[]> =>
  readTogether(database.for("lookup"), async (tx) => {
    const portion = await portionToRead(tx, workspace.id, LOOKED_AT);
    return selectFrequentValues(tx, workspace.id, kind, name, portion, SHOWN);
  });
