import type { ReactNode } from "react";
import { Declared } from "./declared.tsx";

/** The name of something that a manifest may have declared, in bold or as the link to its page. */
export const DeclaredName = ({
  of: { name, declared },
  link,
}: {
  readonly of: { readonly name: string; readonly declared: boolean };
  readonly link?: ReactNode;
}) => (
  <>
    {link ?? <strong>{name}</strong>} <Declared declared={declared} />
  </>
);
