import { Link, type LinkProps } from "@tanstack/react-router";
import { Declared } from "./declared.tsx";

interface DeclaredNameProps {
  readonly of: { readonly name: string; readonly declared: boolean };
  /** Its own page, if it has one: then the whole row links there. */
  readonly leadsTo?: Pick<LinkProps, "to" | "params">;
}

/** The name of something that a manifest may have declared, in bold or as the link to its page. */
export const DeclaredName = ({ of: { name, declared }, leadsTo }: DeclaredNameProps) => (
  <>
    {leadsTo ? (
      <Link {...leadsTo} className="row-link">
        <bdi>{name}</bdi>
      </Link>
    ) : (
      <strong>
        <bdi>{name}</bdi>
      </strong>
    )}{" "}
    <Declared declared={declared} />
  </>
);
