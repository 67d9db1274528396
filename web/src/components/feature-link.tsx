import { Link, type LinkProps, useRouter } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWorkspace } from "../api/workspace.ts";
import type { Feature } from "../feature.ts";

interface FeatureLinkProps {
  /** A page of another feature, such as `/w/$workspace/users/$id`. */
  readonly to: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string>>;
  readonly className?: string;
  readonly title?: string;
  readonly dir?: "auto";
  readonly onClick?: () => void;
  readonly children: ReactNode;
}

/** A link from one feature to a page of another, in the same workspace; the text alone if that feature was taken out. */
export function FeatureLink({ children, ...link }: FeatureLinkProps) {
  const params = { workspace: useWorkspace(), ...link.params };
  return useHasPage(link.to) ? (
    <Link {...({ ...link, params } as unknown as LinkProps)}>{children}</Link>
  ) : (
    children
  );
}

interface PageLinkProps {
  readonly to: Extract<LinkProps["to"], `/w/$workspace/${string}`>;
  readonly children: ReactNode;
}

/** A link to a page of the same workspace that takes nothing else in its address. */
export const PageLink = ({ to, children }: PageLinkProps) => (
  <Link to={to} params={{ workspace: useWorkspace() }} className="link">
    {children}
  </Link>
);

/** Whether the feature of a page is there. */
export const useHasPage = (page: string): boolean => Object.hasOwn(useRouter().routesById, page);

/** All features, for what one offers to the pages of another. */
export const useFeatures = (): readonly Feature[] =>
  (useRouter().options.context as { readonly features: readonly Feature[] }).features;
