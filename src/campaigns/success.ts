import Type from "typebox";

/** The answer that has nothing else to say. */
export const Success = Type.Object({ message: Type.Literal("success") });

export const success = { status: 200, body: { message: "success" } } as const;
