import { Link, type LinkProps } from "@tanstack/react-router";
import { useWorkspace } from "../api/workspace.ts";
import { Declared } from "./declared.tsx";

interface DeclaredNameProps {
  readonly of: { readonly name: string; readonly declared: boolean };
  /** The address of such pages, if it has one of its own: then the whole row links there. */
  readonly page?: Extract<LinkProps["to"], `/w/$workspace/${string}/$id`>;
  /** In that address. */
  readonly id?: string;
}

/** The name of something that a manifest may have declared, in bold or as the link to its page. */
export function DeclaredName({ of: { name, declared }, page, id = "" }: DeclaredNameProps) {
  const workspace = useWorkspace();
  return (
    <>
      {page ? (
        <Link to={page} params={{ workspace, id }} className="row-link">
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
}
