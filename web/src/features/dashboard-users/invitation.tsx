import { MailPlus } from "lucide-react";
import { useSession } from "../../api/session.ts";
import {
  type Invitation,
  useChangeCredentialsOf,
  useCredentialsOf,
  useOwnCredentials,
} from "../../api/sign-in.ts";
import { Confirm } from "../../components/confirm.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { tellDone, tellFailed } from "../../components/feedback.tsx";
import { Card, Facts } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { SecretDialog } from "../../components/secret-dialog.tsx";
import { Loaded, Notice } from "../../components/states.tsx";
import { exactTime, Time } from "../../components/time.tsx";
import { nameOfPerson, type Person } from "./api.ts";
import { Sessions } from "./sessions.tsx";

/* How a colleague signs in, as an administrator sees it; and the link that invites them. */

interface LinkDialogProps {
  readonly name: string;
  readonly invitation: Invitation;
}

/** The link, shown this once. */
export const LinkDialog = ({ name, invitation }: LinkDialogProps) => (
  <SecretDialog title={`The link for ${name}`} secret={invitation.url} label="Link">
    {invitation.mailed && <Notice tone="good">It was mailed to {name} as well.</Notice>}
    <Notice tone="warn">
      Send it to {name} alone: whoever opens it first signs in as {name}. It works once, until{" "}
      {exactTime(invitation.expires_at)}, and is not shown again. You can make another.
    </Notice>
  </SecretDialog>
);

/** Says that links, passwords and passkeys are off, where they are. @returns whether they are on. */
export const useIsLocalOn = (): boolean => useOwnCredentials().data?.local ?? true;

/** What a colleague signs in with, where they are signed in, and the button that invites them. */
export function SignInOf({ person }: { readonly person: Person }) {
  const credentials = useCredentialsOf(person.id);
  const { invite, remove, endSession } = useChangeCredentialsOf(person.id);
  const isLocalOn = useIsLocalOn();
  const { person: own } = useSession();
  const { open, dialog } = useDialog();
  const name = nameOfPerson(person);
  const isOwn = own.id === person.id;
  const showLink = (invitation: Invitation) =>
    open(<LinkDialog name={name} invitation={invitation} />);
  const askRemoval = () =>
    open(
      <Confirm
        title={`Remove how ${name} signs in`}
        action="Remove"
        run={async () => {
          await remove();
          tellDone(`${name} needs a new link to sign in.`);
        }}
      >
        Password, passkeys, links and sessions of {name} end at once, as after the loss of a device.
        Permissions stay.
      </Confirm>,
    );
  const askEnd = (session: string) =>
    open(
      <Confirm title="End this session" action="End the session" run={() => endSession(session)}>
        {name} is signed out in that browser at once, and can sign in again.
      </Confirm>,
    );
  return (
    <>
      <Card
        title="Sign-in"
        about={
          isLocalOn
            ? "A link signs them in once; then they choose a passkey or a password."
            : "People sign in with the identity provider only."
        }
        actions={
          <>
            <PermittedButton
              needs={{ company: "admin" }}
              size="xs"
              variant="default"
              onClick={askRemoval}
            >
              Remove all ways
            </PermittedButton>
            <PermittedButton
              needs={{ company: "manage_company_settings" }}
              size="xs"
              leftSection={<MailPlus size={14} />}
              disabled={!isLocalOn || !person.active || isOwn}
              onClick={() => void invite().then(showLink, tellFailed)}
            >
              Invite
            </PermittedButton>
          </>
        }
        flush
      >
        <Loaded from={credentials} lines={3}>
          {({ password_set_at, passkeys, invitation_until }) => (
            <Facts
              of={[
                ["Password", password_set_at ? <Time key="p" at={password_set_at} /> : "None"],
                ["Passkeys", passkeys.map((each) => each.name).join(", ") || "None"],
                [
                  "Invitation",
                  invitation_until ? `Open until ${exactTime(invitation_until)}` : "None",
                ],
              ]}
            />
          )}
        </Loaded>
      </Card>
      <Card title="Sessions" flush>
        <Loaded from={credentials} lines={3}>
          {({ sessions }) => <Sessions of={sessions} needs={{ company: "admin" }} end={askEnd} />}
        </Loaded>
      </Card>
      {dialog}
    </>
  );
}
