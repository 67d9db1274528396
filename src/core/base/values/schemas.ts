import Type, {
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  type TStringOptions,
} from "typebox";

/* Schemas that the endpoints of many features use. */

export const nullable = <Schema extends TSchema>(schema: Schema, options?: TSchemaOptions) =>
  Type.Union([schema, Type.Null()], options);

export const NullableText = nullable(Type.String());

/** A text as the documentation describes it. */
export const Text = (description: string, example: string, options: TStringOptions = {}) =>
  Type.String({ ...options, description, examples: [example] });

/** A text that may be null, as the documentation describes it. */
export const TextOrNull = (description: string, example: string | null) =>
  nullable(Type.String(), { description, examples: [example] });

export const IntegerOrNull = (description: string, example: number) =>
  nullable(Type.Integer(), { description, examples: [example] });

const rulesOfPatterns = new Map<string, string>();

/** A pattern whose rule is more than which characters are allowed. @param must what the refusal of a text says. */
export function patterned(pattern: string, must: string): { readonly pattern: string } {
  rulesOfPatterns.set(pattern, must);
  return { pattern };
}

/** The sentence for a text that does not match a pattern. */
export const ruleOfPattern = (pattern: string): string =>
  rulesOfPatterns.get(pattern) ?? "has characters that are not allowed";

/** One character of a name: no control character, and nothing that ends a line. */
const OF_NAME = "\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029";

/**
 * The name of something that is declared. It appears in paths, files and outputs of programs: it
 * has no control characters, and is not `.` or `..`.
 */
export const PLAIN_NAME = {
  minLength: 1,
  maxLength: 255,
  pattern: `^(?:[^.${OF_NAME}][^${OF_NAME}]*|\\.[^.${OF_NAME}][^${OF_NAME}]*|\\.\\.[^${OF_NAME}]+)$`,
} as const;

/** A list that names nothing twice. The validator's own `uniqueItems` takes quadratic time to say which items are equal. */
export const distinctList = <Item extends TSchema>(
  item: Item,
  options: TSchemaOptions & { readonly maxItems: number },
) =>
  Type.Refine(
    Type.Array(item, { ...options, isDistinct: true }),
    (items) => new Set(items).size === items.length,
    () => "must not name anything twice",
  );

/**
 * An object with a name of its own in the OpenAPI documents, and so in the types of clients.
 *
 * @param title unique, such as `SyncRun`.
 */
export const named = <Members extends TProperties>(
  title: string,
  members: Members,
  options?: TObjectOptions,
) => Type.Object(members, { ...options, title });

/** An object that may have no other members. */
export const ClosedObject = <Members extends TProperties>(
  members: Members,
  options?: TObjectOptions,
) => Type.Object(members, { additionalProperties: false, ...options });

/** The reply with one named object: its members, and `message`. */
export const successOf = <Schema extends TSchema>(schema: Schema) =>
  Type.Intersect([schema, OnlySuccess]);

export const Cursor = Type.Optional(Type.String({ maxLength: 4_096 }));

/** The `message` of a response that has nothing else to say. */
export const Success = Type.Literal("success");

export const OnlySuccess = Type.Object({ message: Success });

/** The replies of an endpoint that responds with these members and `message`: see `success`. */
export const succeeding = <Members extends TProperties>(members: Members) => ({
  200: Type.Object({ ...members, message: Success }),
});

export const OfWorkspace = Type.Object({ name: Type.String() });
