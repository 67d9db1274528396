import type { Workspace } from "../../core/base/context/workspace.ts";
import { createFairLine, type FairLine } from "../../core/base/fair-line.ts";
import { refuseUnstorable } from "../../core/base/values/plain-json.ts";
import { readTogether } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { tooMuchLoad } from "../../core/http/respond.ts";
import { findHolders } from "../../core/people/profiles/find-holders.ts";
import { refuseLargeExport } from "./export-budget.ts";
import { DEFAULT_FIELDS, isCheap } from "./profile-view.ts";
import {
  type Exported,
  exportedOf,
  idsOf,
  type SmallExports,
  type WantedExport,
} from "./small-exports.ts";
import { sourcesOf } from "./view-users.ts";
import { type ExportRequest, MOST_HOLDERS, refuseTooManyUsers, wantedBy } from "./wanted-users.ts";

export interface ExportServices extends StoringServices {
  readonly smallExports: SmallExports;
  readonly largeExports: FairLine;
}

/** Reading and showing one of them may take tens of milliseconds. */
export const createLargeExports = (): FairLine =>
  createFairLine({ places: 4, mostWaiting: 100, refusal: tooMuchLoad });

/**
 * Reads profiles by external ids, aliases, platform ids, or by one address, in the publicly known
 * shape. All of it is read from one snapshot: counts and states agree.
 *
 * @throws Problem INVALID_REQUEST for no ids or too many, for both an address and a number, or for
 * a text or an id that was sent as a number too large to be read exactly.
 */
export async function exportByIds(
  services: ExportServices,
  workspace: Workspace,
  request: ExportRequest,
): Promise<Exported> {
  refuseUnstorable(request);
  const asked = request.fields_to_export ?? [];
  const fields = asked.length > 0 ? asked : DEFAULT_FIELDS;
  const wanted = { workspace, wanted: wantedBy(request), fields };
  const small = isCheap(fields) ? await services.smallExports.read(wanted) : undefined;
  return small ?? services.largeExports.run(workspace.id, () => readMeasured(services, wanted));
}

/** Measures an export before it is read, because it may be large. */
const readMeasured = (
  { database, clock }: ExportServices,
  wanted: WantedExport,
): Promise<Exported> =>
  readTogether(database, async (tx) => {
    const { workspace, fields } = wanted;
    const identifiers = wanted.wanted.map((each) => each.identifier);
    const holders = await findHolders(tx, workspace.id, identifiers, MOST_HOLDERS);
    const ids = [...idsOf(wanted.wanted, holders)];
    refuseTooManyUsers(ids);
    await refuseLargeExport(tx, workspace.id, ids, fields);
    const sources = await sourcesOf(tx, workspace, ids, fields, clock.now());
    return exportedOf(wanted, holders, sources);
  });
