import type { JobKind } from "../core/admin/jobs/job.ts";
import { retentionJob } from "../core/admin/retention/retention.ts";
import type { Colleagues } from "../core/admin/workspaces/resource.ts";
import { type Resources, resourceEndpoints } from "../core/admin/workspaces/resource-endpoints.ts";
import { company, settings, workspaces } from "../core/admin/workspaces/workspace-resources.ts";
import type { MigrationStep } from "../core/database/migrations/steps.ts";
import type { Feature, Ordered, ReferencePart, Repeated, Sweep } from "../core/feature.ts";
import type { Endpoint } from "../core/http/endpoint.ts";
import { APPLIED, PARTS } from "./app.ts";
import type { Config } from "./config.ts";
import type { AppLists, Services } from "./core-services.ts";
import { dashboardPages } from "./pages/pages.ts";
import { documentationEndpoints } from "./reference/documentation.ts";

/* All lists of what the server consists of, from the list of its parts. */

/** A part whose hooks get what they ask for: the compiler compares it with what there is. */
type CheckedPart = Feature<Services, Config>;

/** The parts of the server, and every list made from them. */
export interface App extends AppLists {
  readonly parts: readonly CheckedPart[];
  readonly administered: Resources;
  /** Every endpoint of the API, in the order of the reference. */
  readonly endpoints: readonly Endpoint<Services>[];
  readonly pages: readonly Endpoint<Services>[];
  readonly unlisted: readonly Endpoint<Services>[];
  readonly reference: readonly ReferencePart[];
  readonly jobs: readonly JobKind<Services>[];
  readonly sweeps: readonly Sweep[];
  readonly repeated: readonly Repeated<Services>[];
  readonly migrationSteps: readonly MigrationStep[];
  readonly settingChecks: Readonly<Record<string, SettingCheck>>;
  readonly demo: object;
}

type SettingCheck = (config: Config) => Promise<string | undefined>;

let assembled: Promise<App> | undefined;

/** Loads every part, once. */
export function assemble(): Promise<App> {
  assembled ??= Promise.all(
    Object.values(PARTS).map(async ({ load }): Promise<CheckedPart> => (await load()).feature),
  ).then(listsOf);
  return assembled;
}

/** Everything that is served and that the reference describes. @param webFolder see `dashboardPages`. */
export const documentedEndpoints = (
  { endpoints, pages }: App,
  webFolder?: string,
): readonly Endpoint<Services>[] => [
  ...endpoints,
  ...documentationEndpoints(),
  ...pages,
  ...dashboardPages(webFolder),
];

const inOrder = <Step>(all: readonly (Ordered<Step> | undefined)[]): readonly Step[] => [
  ...all.flatMap((each) => each?.first ?? []),
  ...all.flatMap((each) => each?.later ?? []),
];

/** The resources in the order in which a manifest applies them. */
function applied<Each extends { readonly key: string }>(resources: readonly Each[]): Each[] {
  const placeOf = ({ key }: Each) =>
    APPLIED.includes(key) ? APPLIED.indexOf(key) : APPLIED.length;
  return resources.toSorted((one, other) => placeOf(one) - placeOf(other));
}

function listsOf(loaded: readonly CheckedPart[]): App {
  const parts = loaded.map((part) => ({ ...part, ...extended(part, loaded) }));
  const resources = applied(parts.flatMap((part) => part.resources ?? []));
  const companyResources = applied(parts.flatMap((part) => part.companyResources ?? []));
  const administered: Resources = {
    ofServer: [company, workspaces],
    ofCompany: companyResources,
    ofWorkspace: [settings, ...resources],
  };
  const retained = parts.flatMap((part) => part.retained ?? []);
  const jobs: JobKind<Services>[] = parts.flatMap((part) => part.jobs ?? []);
  return {
    parts,
    resources,
    companyResources,
    administered,
    endpoints: parts.flatMap((part): readonly Endpoint<Services>[] =>
      part.name === "administered" ? resourceEndpoints(administered) : (part.endpoints ?? []),
    ),
    pages: parts.flatMap((part) => part.pages ?? []),
    unlisted: parts.flatMap((part) => part.unlisted ?? []),
    reference: parts.flatMap((part) => part.reference ?? []),
    jobs: [...jobs, retentionJob(retained)],
    erasers: {
      first: parts.flatMap((part) => part.reset?.first ?? []),
      later: parts.flatMap((part) => part.reset?.later ?? []),
    },
    referenceErasers: inOrder(parts.map((part) => part.deletion)),
    nameErasers: parts.flatMap((part) => part.nameEraser ?? []),
    traceErasers: parts.flatMap((part) => part.erasure ?? []),
    sealedKinds: parts.flatMap((part) => part.sealed ?? []),
    sweeps: parts.flatMap((part) => part.sweeps ?? []),
    repeated: parts.flatMap((part) => part.repeated ?? []),
    attentionSources: parts.flatMap((part) => part.attention ?? []),
    migrationSteps: parts.flatMap((part) => part.migrationSteps ?? []),
    demo: Object.assign({}, ...parts.map((part) => part.demo)),
    settingChecks: Object.assign({}, ...parts.map((part) => part.settingChecks)),
    colleaguesAmong: parts.find((part) => part.colleaguesAmong)?.colleaguesAmong ?? nobody,
    namesOfColleagues:
      parts.find((part) => part.namesOfColleagues)?.namesOfColleagues ?? (async () => new Map()),
  };
}

const nobody: Colleagues["colleaguesAmong"] = async () => new Set();

/** Endpoints and resources that a part offers because of the extensions of others. */
const extended = ({ name, extendedBy }: CheckedPart, all: readonly CheckedPart[]) =>
  extendedBy?.(all.flatMap(({ extensions }) => extensions?.[name] ?? []));
