import Type from "typebox";

/** A response without further content. */
export const Success = Type.Object({ message: Type.Literal("success") });

export const success = { status: 200, body: { message: "success" } } as const;
