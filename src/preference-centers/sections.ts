import type { Static } from "typebox";
import { describe, difference, type Section, type SectionTarget } from "../workspaces/section.ts";
import type { DeclaredCenter } from "./center.ts";
import { checkCenter, DECLARED_NAMES } from "./check-center.ts";
import { centerOf, DeclaredCenterForm } from "./declarations.ts";
import { KIND, writeCenters } from "./manage-centers.ts";
import { deleteCenters, selectDeclaredCenters } from "./store.ts";

/** What the center of a new workspace is called. */
const FIRST_NAME = "default";

const rowOf = (target: SectionTarget, center: DeclaredCenter, declared: boolean) => ({
  ...center,
  declared,
  revision: target.newId(),
});

/** Removing a center leaves the states that people chose on it. */
const preferenceCenters: Section = {
  key: "preference_centers",
  about: "Pages on which people choose what they want to receive; a new workspace has a ready one.",
  schema: DeclaredCenterForm,
  identity: "id",
  async apply(tx, target, entries: readonly Static<typeof DeclaredCenterForm>[]) {
    const wanted = entries.map(centerOf);
    const present = await selectDeclaredCenters(tx, target.workspaceId);
    const todo = difference(present, wanted, (center) => center.id);
    for (const center of [...todo.created, ...todo.updated]) {
      checkCenter(center, DECLARED_NAMES, ["preference_centers", wanted.indexOf(center)]);
    }
    const gone = todo.removed.map((center) => center.id);
    await deleteCenters(tx, target.workspaceId, gone);
    const rows = [...todo.created, ...todo.updated].map((center) => rowOf(target, center, true));
    await writeCenters(tx, target.workspaceId, rows, target.now);
    return describe(KIND, target.workspaceName, todo, (center) => center.name, detailsOf);
  },

  /** A new workspace has a page at once; a manifest that declares centers replaces nothing of it. */
  async begin(tx, target) {
    const center = centerOf({ id: target.newId(), name: FIRST_NAME });
    await writeCenters(tx, target.workspaceId, [rowOf(target, center, false)], target.now);
    const done = { created: [center], updated: [], removed: [] };
    return describe(KIND, target.workspaceName, done, ({ name }) => name, detailsOf);
  },
};

const detailsOf = ({ title, state }: DeclaredCenter) => ({ title, state });

export const PREFERENCE_CENTER_SECTIONS: readonly Section[] = [preferenceCenters];
