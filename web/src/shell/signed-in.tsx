import { Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { sessionQuery } from "../api/session.ts";
import { partOf } from "../components/part.tsx";
import { Failure } from "../components/states.tsx";
import { Shell } from "./shell.tsx";

const Starting = () => (
  <div role="status" aria-label="Loading" className="starting">
    <Loader />
  </div>
);

/** Most who open a page are signed in, and load no form. */
const SignIn = partOf(async () => (await import("./sign-in.tsx")).SignIn, <Starting />);

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
  return <Starting />;
}
