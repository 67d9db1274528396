import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { groupBy } from "../../core/base/values/group-by.ts";
import { sum } from "../../core/base/values/sum.ts";
import { readTogether } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { CountingServices } from "./count-users.ts";
import { portionToRead, type SegmentSize, sizeFrom } from "./estimate.ts";
import type { Portion } from "./members-store.ts";
import {
  type FrequentProperty,
  type Sampled,
  type Scalar,
  selectFrequentProperties,
  selectFrequentValues,
} from "./sampled-values-store.ts";

/*
 * Which values the attributes of users and the properties of events have. It is read from a sample of the users when somebody
 * asks, so it is as old as the response; if the users are few, all are looked at.
 */

const LOOKED_AT = 1_000;

const PROPERTIES = 100;
const VALUES_OF_PROPERTY = 5;

/** Who has an attribute or did an event, as far as a sample tells. */
interface Having {
  readonly users: SegmentSize;
  readonly lookedAt: number;
}

/** How many users have an attribute, and each of its most frequent values; of lists, each of their elements. */
export async function sampleAttribute(
  services: StoringServices & CountingServices,
  { workspace }: WorkspaceContext,
  kind: "attribute" | "custom_attribute",
  name: string,
): Promise<
  Having & { readonly values: readonly { readonly value: Scalar; readonly users: SegmentSize }[] }
> {
  const { found, having, sizeOf } = await sampled(services, workspace.id, (tx, portion) =>
    selectFrequentValues(tx, workspace.id, kind, name, portion),
  );
  const values = found.values.map(({ value, users }) => ({ value, users: sizeOf(users) }));
  return { ...having, values };
}

/** How many users did an event, and which properties its last occurrences had. */
export async function sampleEvent(
  services: StoringServices & CountingServices,
  { workspace }: WorkspaceContext,
  name: string,
) {
  const { found, having } = await sampled(services, workspace.id, (tx, portion) =>
    selectFrequentProperties(tx, workspace.id, name, portion),
  );
  const properties = [...groupBy(found.properties, (each) => each.name)]
    .map(([property, rows]) => propertyOf(property, rows))
    .sort((one, other) => other.seen - one.seen)
    .slice(0, PROPERTIES);
  return { ...having, occurrences: found.occurrences, properties };
}

function propertyOf(name: string, rows: readonly FrequentProperty[]) {
  const types = [...groupBy(rows, ({ type }) => type)]
    .map(([type, [first]]) => ({ type, seen: first?.ofType ?? 0 }))
    .sort((one, other) => other.seen - one.seen);
  const values = rows
    .flatMap(({ value, seen }) => (value === null ? [] : [{ value, seen }]))
    .sort((one, other) => other.seen - one.seen)
    .slice(0, VALUES_OF_PROPERTY);
  return { name, seen: sum(types.map(({ seen }) => seen)), types, values };
}

/** Reads a sample, and draws conclusions about all users. */
async function sampled<Found extends Sampled>(
  { database, userTotals }: StoringServices & CountingServices,
  workspaceId: number,
  read: (tx: Parameters<typeof portionToRead>[0], portion: Portion) => Promise<Found>,
) {
  const known = userTotals.readForEstimate(workspaceId);
  const { portion, found } = await readTogether(database.for("lookup"), async (tx) => {
    const portion = await portionToRead(tx, workspaceId, LOOKED_AT);
    return { portion, found: await read(tx, portion) };
  });
  const total = portion.kind === "sample" ? await known : undefined;
  const { seen, highestChance } = found;
  const sizeOf = (matching: number) =>
    sizeFrom(portion, { seen, matching, highestChance, lastId: null }, total);
  return { found, having: { users: sizeOf(found.having), lookedAt: seen }, sizeOf };
}
