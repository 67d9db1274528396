import { useQuery } from "@tanstack/react-query";
import { Outlet, useParams } from "@tanstack/react-router";
import { sessionQuery } from "../api/session.ts";
import { Failure } from "../components/states.tsx";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign-in.tsx";

/** The pages for a person who is signed in; the sign-in, at the same address, for everyone else. */
export function SignedIn() {
  const { data, error, refetch } = useQuery(sessionQuery);
  const { workspace } = useParams({ strict: false });
  if (data?.session) {
    return (
      <Shell workspace={workspace ?? data.session.workspaces[0]}>
        <Outlet />
      </Shell>
    );
  }
  if (data) return <SignIn state={data} />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  return null;
}
