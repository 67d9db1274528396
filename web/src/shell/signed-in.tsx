import { Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { sessionQuery } from "../api/session.ts";
import { Failure } from "../components/states.tsx";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign-in.tsx";

/** The pages for a person who is signed in; the sign-in, at the same address, for everyone else. */
export function SignedIn() {
  const { data, error, refetch } = useQuery(sessionQuery);
  if (data?.session) {
    return (
      <Shell>
        <Outlet />
      </Shell>
    );
  }
  if (data) return <SignIn state={data} />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <div role="status" aria-label="Loading" className="starting">
      <Loader />
    </div>
  );
}
