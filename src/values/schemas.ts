import Type, { type TSchema, type TSchemaOptions } from "typebox";

/* Schemas that the endpoints of many features use. */

export const nullable = <Schema extends TSchema>(schema: Schema, options?: TSchemaOptions) =>
  Type.Union([schema, Type.Null()], options);

export const NullableText = nullable(Type.String());

/** In the query of a list that is read page by page. */
export const Cursor = Type.Optional(Type.String({ maxLength: 4_096 }));
