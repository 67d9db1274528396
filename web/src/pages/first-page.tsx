import { Navigate } from "@tanstack/react-router";
import { Layers } from "lucide-react";
import { useSession } from "../api/session.ts";
import { Page } from "../components/page.tsx";
import { Empty } from "../components/states.tsx";

/** Leads to the first workspace, or says how to create one. */
export function FirstPage() {
  const { workspaces, administrator } = useSession();
  const [workspace] = workspaces;
  if (workspace) return <Navigate to="/w/$workspace/users" params={{ workspace }} replace />;
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
