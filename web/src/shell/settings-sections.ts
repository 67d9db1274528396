import type { Session } from "../api/session.ts";
import type { Feature } from "../feature.ts";
import * as features from "../features.ts";

const all: readonly Feature[] = Object.values(features);

/** The pages below /w/…/settings, in the order of their navigation. */
export const WORKSPACE_SECTIONS = all
  .flatMap(({ settings = [] }) => settings)
  .sort((one, other) => one.place - other.place);

/** The pages below /company. */
export const COMPANY_SECTIONS = all
  .flatMap(({ companySettings = [] }) => companySettings)
  .sort((one, other) => one.place - other.place);

/** The settings of a workspace that a person may see, with their addresses. */
export const workspaceSectionsOf = ({ administrator, permissions }: Session, workspace: string) =>
  WORKSPACE_SECTIONS.filter(
    ({ needs }) => administrator || permissions.workspaces[workspace]?.includes(needs),
  ).map(({ name, label }) => {
    const params = { workspace, section: name };
    return { label, link: { to: "/w/$workspace/settings/$section", params } as const };
  });

/** The pages of the company that a person may see. */
export const companySectionsOf = ({ administrator, permissions }: Session) =>
  COMPANY_SECTIONS.filter(({ needs }) => administrator || permissions.company.includes(needs)).map(
    ({ name, label }) => ({
      label,
      link: { to: "/company/$section", params: { section: name } } as const,
    }),
  );
