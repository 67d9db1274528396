import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Feature } from "../../core/feature.ts";
import { preferenceCenterAdminEndpoints } from "./admin-endpoints.ts";
import { createCenterCache } from "./center-cache.ts";
import { preferenceCenterEndpoints } from "./endpoints.ts";
import { createLinks, linkSecrets } from "./links.ts";
import { pageEndpoints } from "./page-endpoints.ts";
import { createPageLimits } from "./page-limits.ts";
import { createPageViews } from "./page-views.ts";
import { PREFERENCE_CENTER_RESOURCES } from "./resources.ts";

type Given = StoringServices & { readonly sealing: Sealing };

interface PageSettings {
  readonly pageLinkDays: number;
  readonly pageLimit: number;
}

export const feature = {
  name: "preference-centers",
  endpoints: [...preferenceCenterEndpoints, ...preferenceCenterAdminEndpoints, ...pageEndpoints],
  reference: [
    { tag: "Preference centers", paths: ["/preference_center", "/preferences"] },
    {
      tag: "Preference center administration",
      paths: ["/admin/v1/workspaces/:name/preference-centers", "/admin/v1/preference-page-links"],
    },
  ],
  resources: PREFERENCE_CENTER_RESOURCES,
  demo: { preference_centers: [{ id: "0f4e6c1a-7d02-4c55-9a3e-2b8d51c7f6a4", name: "main" }] },
  services: (given: Given, { pageLinkDays, pageLimit }: PageSettings) => ({
    links: createLinks(given, pageLinkDays),
    pageLimits: createPageLimits(pageLimit),
    pageViews: createPageViews(given.database),
    centerCache: createCenterCache(),
  }),
  sealed: [linkSecrets],
} satisfies Feature;
