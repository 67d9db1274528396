import { Button } from "@mantine/core";
import { Link, Navigate } from "@tanstack/react-router";
import { Layers, Lock } from "lucide-react";
import { type Session, useSession } from "../api/session.ts";
import { Card, Facts, Page } from "../components/page.tsx";
import { Empty } from "../components/states.tsx";
import { firstEntry, NAVIGATION } from "../shell/navigation.ts";
import {
  COMPANY_SECTIONS,
  companySectionsOf,
  WORKSPACE_SECTIONS,
} from "../shell/settings-sections.ts";

/** Opens the first page that a person may see, or says what is missing. */
export function FirstPage() {
  const session = useSession();
  const { workspaces, administrator } = session;
  for (const workspace of workspaces) {
    const entry = firstEntry(session, workspace);
    if (!entry) continue;
    return <Navigate to={entry.to} params={{ workspace }} replace />;
  }
  if (administrator) return <NoWorkspace />;
  const [section] = companySectionsOf(session);
  if (section) return <Navigate {...section.link} replace />;
  return <NoPermission session={session} />;
}

const NoWorkspace = () => (
  <Page title="Welcome">
    <Empty
      icon={Layers}
      title="There is no workspace yet"
      action={
        <Button
          mt="xs"
          renderRoot={(props) => (
            <Link to="/company/$section" params={{ section: "workspaces" }} {...props} />
          )}
        >
          Add a workspace
        </Button>
      }
    >
      A workspace keeps the users of one product or brand.
    </Empty>
  </Page>
);

/** The pages of each permission, so that a person can ask for the right one. */
const NoPermission = ({ session }: { readonly session: Session }) => (
  <Page title="Welcome">
    <div className="stack">
      <Empty icon={Lock} title="Your permissions open no page yet">
        You are signed in as {session.person.user_name}. Ask an admin of the company for one of the
        permissions below, then reload this page. {heldBy(session)}
      </Empty>
      <Card title="Permissions in a workspace" flush>
        <Facts of={IN_WORKSPACE} />
      </Card>
      <Card title="Permissions of the company" flush>
        <Facts of={IN_COMPANY} />
      </Card>
    </div>
  </Page>
);

function heldBy({ permissions: { company, workspaces } }: Session): string {
  const held = [
    ...company.map((name) => `${name} of the company`),
    ...Object.entries(workspaces).map(([name, list]) => `${list.join(", ")} in ${name}`),
  ];
  return held.length === 0 ? "You have none so far." : `So far you have ${held.join("; ")}.`;
}

type Opening = readonly [permission: string, pages: string];

/** Permissions with the names of the pages that they open. */
const openings = (pages: readonly (readonly [permission: string, label: string])[]): Opening[] =>
  [...new Set(pages.map(([permission]) => permission))].map((permission) => [
    permission,
    pages
      .filter(([each]) => each === permission)
      .map(([, label]) => label)
      .join(", "),
  ]);

const IN_WORKSPACE = openings([
  ...NAVIGATION.flatMap(({ entries }) =>
    entries.map(({ needs, label }) => [needs.join(" and "), label] as const),
  ),
  ...WORKSPACE_SECTIONS.map(({ needs, label }) => [needs, `Settings: ${label}`] as const),
]);

const IN_COMPANY = openings(COMPANY_SECTIONS.map(({ needs, label }) => [needs, label] as const));
