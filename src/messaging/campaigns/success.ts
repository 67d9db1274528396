import Type from "typebox";
import { Success } from "../../base/values/schemas.ts";

/** A response without further content. */
export const OnlySuccess = Type.Object({ message: Success });

export const success = { status: 200, body: { message: "success" } } as const;
