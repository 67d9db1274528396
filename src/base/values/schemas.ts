import Type, { type TSchema, type TSchemaOptions } from "typebox";

/* Schemas that the endpoints of many features use. */

export const nullable = <Schema extends TSchema>(schema: Schema, options?: TSchemaOptions) =>
  Type.Union([schema, Type.Null()], options);

export const NullableText = nullable(Type.String());

/** In the query of a list that is read page by page. */
export const Cursor = Type.Optional(Type.String({ maxLength: 4_096 }));

/** The `message` of a response that has nothing else to say. */
export const Success = Type.Literal("success");

/** The parameters of a path below `/admin/v1/workspaces/:name`. */
export const OfWorkspace = Type.Object({ name: Type.String() });
