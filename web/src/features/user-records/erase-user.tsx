import { useNavigate } from "@tanstack/react-router";
import { nameOf } from "../../api/name-of.ts";
import { type Profile, useEraseUser } from "../../api/users.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { Confirm } from "../../components/confirm.tsx";
import { tellDone } from "../../components/feedback.tsx";

export function EraseUser({ profile }: { readonly profile: Profile }) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const erase = useEraseUser();
  const name = nameOf(profile);
  return (
    <Confirm
      title={`Erase ${name}`}
      action="Erase"
      typed={name}
      run={async () => {
        await erase.mutateAsync({ params: { path: { name: workspace, id: profile.platform_id } } });
        void navigate({ to: "/w/$workspace/users", params: { workspace } });
        tellDone(`Erased ${name}.`);
      }}
    >
      The profile, its events, purchases and history are deleted, and so is the state of the email
      address if no other user has it. Nothing brings them back.
    </Confirm>
  );
}
