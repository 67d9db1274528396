import { isDeepStrictEqual } from "node:util";
import Type, { type TSchema } from "typebox";
import { Problem } from "../../base/problem.ts";
import { isObject } from "../../base/values/plain-json.ts";
import { ClosedObject, nullable } from "../../base/values/schemas.ts";
import { checkOf } from "../../http/validate.ts";
import type { Entry, KeptSecrets } from "./resource.ts";

/*
 * A PATCH sends some members of what PUT sets as a whole (RFC 7396): absent members stay, null
 * resets one to its default, and lists are replaced. What results is checked like the body of PUT.
 * decision: docs/decisions/one-resource-at-a-time.md
 */

/** For summaries of PATCH. */
export const MERGED = "null resets one to its default, and lists are replaced (RFC 7396).";

/** How PATCH changes what `body`, the schema of PUT, describes. */
export type Patching = ReturnType<typeof patchingOf>;

/**
 * @param body the schema of PUT.
 * @param example of a PATCH, for a schema that has none; by default one is derived.
 */
export function patchingOf(body: TSchema, example?: Entry) {
  let check: ReturnType<typeof checkOf> | undefined;
  const schema = patchSchema(body);
  return {
    body: example ? { ...schema, examples: [example] } : schema,
    /**
     * @param present what PUT would take to change nothing.
     * @param kept the secrets of the present entry.
     * @returns what PUT would take to make the change.
     * @throws Problem INVALID_REQUEST that names the field.
     */
    apply(present: Entry, patch: Entry, kept?: KeptSecrets) {
      const wanted = mergeInto(present, patch, kept);
      // Compiled when it is needed first: a server starts without it.
      check ??= checkOf(body);
      return check(wanted) as Entry;
    },
  };
}

/**
 * The members of a patch put into an entry.
 *
 * @throws Problem INVALID_REQUEST if a secret would go to another destination than its own.
 */
export function mergeInto(present: Entry, patch: Entry, kept?: KeptSecrets, path = ""): Entry {
  const merged = mergePatch(present, patch, 0) as Entry;
  if (!kept) return merged;
  // A secret may be an object, of which no member is kept if another one is sent.
  const sent = kept.secrets.filter((name) => (patch[name] ?? null) !== null);
  const wanted = { ...merged, ...Object.fromEntries(sent.map((name) => [name, patch[name]])) };
  const { partOf = (_name, value) => value } = kept;
  const moved = kept.destination.find(
    (name) => !isDeepStrictEqual(partOf(name, present[name]), partOf(name, wanted[name])),
  );
  const missing = kept.secrets.find((name) => patch[name] === undefined);
  if (moved === undefined || missing === undefined) return wanted;
  const message = `'${path}${missing}' must be sent again, because '${path}${moved}' changes: a secret belongs to its destination`;
  throw new Problem("INVALID_REQUEST", message);
}

/** A bound for the recursion; no resource nests deeper. */
const MOST_LEVELS = 32;

function mergePatch(present: unknown, patch: unknown, level: number): unknown {
  if (!isObject(patch)) return patch;
  if (level > MOST_LEVELS) {
    const message = `The body must not be nested deeper than ${MOST_LEVELS} levels`;
    throw new Problem("INVALID_REQUEST", message);
  }
  const before = isObject(present) ? present : {};
  const kept = Object.entries(before).filter(([name]) => !Object.hasOwn(patch, name));
  const sent = Object.entries(patch)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      const known = Object.hasOwn(before, name) ? before[name] : undefined;
      return [name, mergePatch(known, value, level + 1)] as const;
    });
  return Object.fromEntries([...kept, ...sent]);
}

interface Parts {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: boolean;
  readonly anyOf?: readonly TSchema[];
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

const partsOf = (schema: TSchema): Parts => schema as Parts;

/** The same members, each of which may be absent or null; rules about several members are checked afterwards. */
function patchSchema(schema: TSchema): TSchema {
  const { properties, patternProperties, additionalProperties, anyOf } = partsOf(schema);
  const { title, description, examples } = partsOf(schema);
  // A title makes a schema a component of the OpenAPI document.
  const options = {
    ...(title && { title: `${title}Patch` }),
    ...(description && { description }),
    ...(examples && { examples }),
  };
  if (anyOf?.every((each) => partsOf(each).properties)) {
    return ClosedObject(membersOfAny(anyOf), options);
  }
  if (anyOf) return Type.Union(anyOf.map(patchSchema), options);
  if (properties && Object.keys(properties).length > 0) {
    const closed = additionalProperties === undefined ? {} : { additionalProperties };
    return Type.Object(absentOrNull(properties), { ...closed, ...options });
  }
  if (patternProperties) {
    const [value = Type.Unknown()] = Object.values(patternProperties);
    return Type.Record(Type.String(), nullable(patchSchema(value)), options);
  }
  return schema;
}

const absentOrNull = (properties: Readonly<Record<string, TSchema>>) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const { description, examples } = partsOf(schema);
      const about = { ...(description && { description }), ...(examples && { examples }) };
      return [name, Type.Optional(nullable(patchSchema(schema), about))];
    }),
  );

/** The members of several kinds of object: which of them go together is checked afterwards. */
function membersOfAny(kinds: readonly TSchema[]) {
  const found = new Map<string, Map<string, TSchema>>();
  for (const kind of kinds) {
    for (const [name, schema] of Object.entries(partsOf(kind).properties ?? {})) {
      const forms = found.get(name) ?? new Map();
      found.set(name, forms.set(JSON.stringify(schema), schema));
    }
  }
  const members = [...found].map(([name, forms]) => {
    const [first, ...others] = [...forms.values()] as [TSchema, ...TSchema[]];
    if (others.length === 0) return [name, first] as const;
    const { description } = partsOf(first);
    const about = description === undefined ? {} : { description };
    return [name, Type.Union([first, ...others], about)] as const;
  });
  return absentOrNull(Object.fromEntries(members));
}
