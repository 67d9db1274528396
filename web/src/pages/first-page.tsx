import { Navigate } from "@tanstack/react-router";
import { Layers } from "lucide-react";
import { useSession } from "../api/session.ts";
import { Page } from "../components/page.tsx";
import { Empty } from "../components/states.tsx";
import { firstEntry } from "../shell/navigation.ts";

/** Leads to the first workspace, or says how to create one. */
export function FirstPage() {
  const session = useSession();
  const { workspaces, administrator } = session;
  const [workspace] = workspaces;
  const entry = workspace && firstEntry(session, workspace);
  if (entry) {
    const { to, section = "" } = entry;
    return <Navigate to={to} params={{ workspace, section }} replace />;
  }
  return (
    <Page title="Welcome">
      {administrator ? (
        <Empty
          icon={Layers}
          title="There is no workspace yet"
          command={`echo 'workspaces: [{ name: demo }]' > manifest.yaml\nnpx rapport apply manifest.yaml`}
        >
          A workspace keeps the users of one product or brand. A manifest creates it; then reload
          this page.
        </Empty>
      ) : (
        <Empty icon={Layers} title="You have no workspace">
          Ask an administrator for permissions in one.
        </Empty>
      )}
    </Page>
  );
}
