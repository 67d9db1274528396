import type { Static } from "typebox";
import {
  describe,
  difference,
  type Resource,
  type ResourceServices,
} from "../../core/admin/workspaces/resource.ts";
import type { DeclaredCenter } from "./center.ts";
import { checkCenter, DECLARED_NAMES } from "./check-center.ts";
import { centerOf, DeclaredCenterForm } from "./declarations.ts";
import { KIND, withinBound, writeCenters } from "./manage-centers.ts";
import { deleteCenters, selectDeclaredCenters, selectWholeCenters } from "./store.ts";

const FIRST_NAME = "default";

const rowOf = ({ clock }: ResourceServices, center: DeclaredCenter, declared: boolean) => ({
  ...center,
  declared,
  revision: clock.newId(),
});

/** Removing a center leaves the states that people chose on it. */
const preferenceCenters: Resource = {
  key: "preference_centers",
  about: "Pages where users choose what they receive; a new workspace has a built-in one.",
  schema: DeclaredCenterForm,
  identity: "id",
  async check(services, workspaceName, entries: readonly Static<typeof DeclaredCenterForm>[]) {
    for (const [index, entry] of entries.entries()) {
      const path = ["preference_centers", index];
      await checkCenter(services, workspaceName, centerOf(entry), DECLARED_NAMES, path);
    }
  },
  async apply(tx, services, { workspace }, entries: readonly Static<typeof DeclaredCenterForm>[]) {
    const wanted = entries.map(centerOf);
    const present = await selectDeclaredCenters(tx, workspace.id);
    const todo = difference(present, wanted, (center) => center.id);
    const gone = todo.removed.map((center) => center.id);
    const rows = [...todo.created, ...todo.updated].map((center) => rowOf(services, center, true));
    await withinBound(tx, workspace.id, async () => {
      await deleteCenters(tx, workspace.id, gone);
      await writeCenters(tx, workspace.id, rows, services.clock.now());
    });
    return describe(KIND, workspace.name, todo, (center) => center.name, detailsOf);
  },
  async declaration(database, _from, { workspace }) {
    return (await selectWholeCenters(database, workspace.id)).map((center) => ({
      id: center.id,
      name: center.name,
      title: center.title,
      state: center.state,
      page_html: center.pageHtml,
      confirmation_html: center.confirmationHtml,
      redirect_url: center.redirectUrl,
      options: center.options,
      locale: center.locale,
      translations: center.translations,
    }));
  },

  /** A new workspace has a page at once; a manifest that declares centers replaces nothing of it. */
  async begin(tx, services, { workspace }) {
    const center = centerOf({ id: services.clock.newId(), name: FIRST_NAME });
    await writeCenters(tx, workspace.id, [rowOf(services, center, false)], services.clock.now());
    const done = { created: [center], updated: [], removed: [] };
    return describe(KIND, workspace.name, done, ({ name }) => name, detailsOf);
  },
};

const detailsOf = ({ title, state }: DeclaredCenter) => ({ title, state });

export const PREFERENCE_CENTER_RESOURCES: readonly Resource[] = [preferenceCenters];
