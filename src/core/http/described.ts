import Type, { type TSchema, type TUnknown } from "typebox";

/**
 * A value that the use case checks itself, for speed or because each item gets its own verdict: validation accepts
 * anything, and the documentation shows `schema`. test/long/core/http/described-bodies.test.ts checks that the two agree.
 */
export const described = (schema: TSchema): TUnknown => Type.Unknown({ describes: schema });

/** The schema that the documentation shows for another one. */
export const descriptionOf = (schema: TSchema): TSchema =>
  (schema as { describes?: TSchema }).describes ?? schema;

export const describedList = (schema: TSchema, description: string) =>
  Type.Array(described(schema), { description });

export const firstExample = (schema: TSchema): unknown =>
  (schema as { examples?: readonly unknown[] }).examples?.[0];
