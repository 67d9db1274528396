import { Button, PasswordInput, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { KeyRound, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { useSession } from "../../api/session.ts";
import {
  type OwnCredentials,
  useChangeOwnCredentials,
  useOwnCredentials,
} from "../../api/sign-in.ts";
import { Confirm } from "../../components/confirm.tsx";
import { actions, type Column, column, DataTable } from "../../components/data-table.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Empty, Loaded, Notice } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { Sessions } from "./sessions.tsx";

const route = getRouteApi("/account");

/** How the signed-in person signs in, and where they are signed in. */
export function AccountPage() {
  const { welcome } = route.useSearch();
  const { person } = useSession();
  return (
    <Page
      title={welcome ? `Welcome, ${person.display_name}` : "Your sign-in"}
      windowTitle="Your sign-in"
      about={
        welcome
          ? "Your link is used up. Choose how you sign in from now on."
          : "How you sign in, and where you are signed in."
      }
    >
      <Loaded from={useOwnCredentials()}>
        {(credentials) => (
          <div className="stack">
            <Ways credentials={credentials} />
            <OwnSessions credentials={credentials} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

interface CredentialsProps {
  readonly credentials: OwnCredentials;
}

function Ways({ credentials }: CredentialsProps) {
  const { person } = useSession();
  if (person.id === null) {
    return (
      <Notice>
        You are the administrator, who signs in with the admin token or with a link from{" "}
        <code>npx rapport-server sign-in</code>. Add yourself to the dashboard users to have a
        password or a passkey, and to have your name in the audit log.
      </Notice>
    );
  }
  if (!credentials.local) {
    return (
      <Notice>You sign in with {credentials.provider}. Passwords and passkeys are off.</Notice>
    );
  }
  return (
    <>
      <OwnPasskeys credentials={credentials} />
      <Password credentials={credentials} />
    </>
  );
}

function OwnPasskeys({ credentials }: CredentialsProps) {
  const { passkeys, passkeys_work: doWork } = credentials;
  const mayAdd = doWork && "PublicKeyCredential" in window;
  const { removePasskey } = useChangeOwnCredentials();
  const { open, dialog } = useDialog();
  const ask = (id: string) =>
    open(
      <RemoveWay
        way="passkey"
        credentials={credentials}
        remove={(confirmation) => removePasskey(id, confirmation)}
      >
        It does not sign you in any more. Remove it from the device as well.
      </RemoveWay>,
    );
  return (
    <Card
      title="Passkeys"
      about="Sign in with your fingerprint, your face or your device's PIN. Nothing to remember, and nothing to steal."
      flush
      actions={
        mayAdd && (
          <Button
            size="xs"
            leftSection={<Plus size={14} />}
            onClick={() => open(<AddPasskey credentials={credentials} />)}
          >
            Add a passkey
          </Button>
        )
      }
    >
      <DataTable
        label="Passkeys"
        columns={passkeyColumns(ask)}
        rows={passkeys}
        keyOf={({ id }) => id}
        empty={
          <Empty icon={KeyRound} title="No passkey yet">
            {mayAdd
              ? "Add one for this device, or for a phone or key that you carry."
              : "Browsers have passkeys on https and on localhost only. Use a password here."}
          </Empty>
        }
      />
      {dialog}
    </Card>
  );
}

function AddPasskey({ credentials }: CredentialsProps) {
  const { addPasskey } = useChangeOwnCredentials();
  return (
    <FormDialog
      title="Add a passkey"
      action="Continue"
      initial={{ name: "This device", current_password: "" }}
      validate={{ name: required, ...asking(credentials) }}
      save={async ({ name, current_password }) => {
        await addPasskey(name.trim(), confirmed(current_password));
        tellDone("Added the passkey.");
      }}
    >
      {(form) => (
        <>
          <TextInput
            label="Name"
            description="To tell it from others, such as Laptop."
            maxLength={100}
            data-autofocus
            {...form.getInputProps("name")}
          />
          <CurrentPassword credentials={credentials} {...form.getInputProps("current_password")} />
        </>
      )}
    </FormDialog>
  );
}

type Passkey = OwnCredentials["passkeys"][number];

const passkeyColumns = (remove: (id: string) => void): readonly Column<Passkey>[] => [
  column("Name", ({ name }) => <bdi>{name}</bdi>),
  column("Added", { width: "8.5rem" }, ({ created_at }) => <Time at={created_at} />),
  column("Last used", { width: "8.5rem" }, ({ last_used_at }) => <Time at={last_used_at} />),
  actions("6rem", ({ id, name }) => (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Remove ${name}`}
      onClick={() => remove(id)}
    >
      Remove
    </Button>
  )),
];

const confirmed = (current_password: string) => (current_password ? { current_password } : {});

const asking = ({ asks_password }: OwnCredentials) => ({
  current_password: (text: string) => (asks_password ? required(text) : null),
});

/** Asks people who have a password for it, before what they sign in with changes. */
const CurrentPassword = ({ credentials, ...props }: CredentialsProps & Record<string, unknown>) =>
  credentials.asks_password && (
    <PasswordInput
      label="Your present password"
      autoComplete="current-password"
      maxLength={256}
      {...props}
    />
  );

interface RemoveWayProps extends CredentialsProps {
  readonly way: "passkey" | "password";
  remove(confirmation: ReturnType<typeof confirmed>): Promise<unknown>;
  readonly children: ReactNode;
}

const RemoveWay = ({ way, credentials, remove, children }: RemoveWayProps) => (
  <FormDialog
    title={`Remove the ${way}`}
    action="Remove"
    isDangerous
    initial={{ current_password: "" }}
    validate={asking(credentials)}
    save={({ current_password }) => remove(confirmed(current_password))}
  >
    {(form) => (
      <>
        <div>{children}</div>
        <CurrentPassword credentials={credentials} {...form.getInputProps("current_password")} />
      </>
    )}
  </FormDialog>
);

function Password({ credentials }: CredentialsProps) {
  const { password_set_at: setAt } = credentials;
  const { removePassword } = useChangeOwnCredentials();
  const { open, dialog } = useDialog();
  const ask = () =>
    open(
      <RemoveWay way="password" credentials={credentials} remove={removePassword}>
        {credentials.passkeys.length > 0
          ? "You sign in with a passkey from now on."
          : "You have no passkey: you need a new link from a colleague to sign in again."}
      </RemoveWay>,
    );
  const title = setAt ? "Change the password" : "Set a password";
  return (
    <Card
      title="Password"
      about={
        setAt ? undefined : "For browsers without your passkey. A few words in a row are good."
      }
      actions={
        <>
          {setAt && (
            <Button size="xs" variant="default" onClick={ask}>
              Remove
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            onClick={() => open(<SetPassword title={title} credentials={credentials} />)}
          >
            {title}
          </Button>
        </>
      }
    >
      {setAt ? (
        <>
          Set <Time at={setAt} />.
        </>
      ) : (
        <span className="dim">You have none.</span>
      )}
      {dialog}
    </Card>
  );
}

const SHORTEST = 12;

const isLong = (text: string): string | null =>
  [...text].length >= SHORTEST ? null : `At least ${SHORTEST} characters.`;

function SetPassword({ title, credentials }: CredentialsProps & { readonly title: string }) {
  const { person } = useSession();
  const { setPassword } = useChangeOwnCredentials();
  return (
    <FormDialog
      title={title}
      initial={{ password: "", again: "", current_password: "" }}
      validate={{
        password: isLong,
        again: (text, { password }) => (text === password ? null : "It differs from the first."),
        ...asking(credentials),
      }}
      save={async ({ password, current_password }) => {
        await setPassword(password, confirmed(current_password));
        tellDone("Saved the password. Your other sessions have ended.");
      }}
    >
      {(form) => (
        <>
          {/* Password managers keep the password for this name. */}
          <input type="hidden" autoComplete="username" value={person.user_name} readOnly />
          <CurrentPassword credentials={credentials} {...form.getInputProps("current_password")} />
          <PasswordInput
            label="New password"
            description={`${SHORTEST} to 128 characters.`}
            autoComplete="new-password"
            maxLength={256}
            data-autofocus
            {...form.getInputProps("password")}
          />
          <PasswordInput
            label="The same again"
            autoComplete="new-password"
            maxLength={256}
            {...form.getInputProps("again")}
          />
        </>
      )}
    </FormDialog>
  );
}

function OwnSessions({ credentials: { sessions } }: CredentialsProps) {
  const { endSession } = useChangeOwnCredentials();
  const { open, dialog } = useDialog();
  const ask = (id: string) =>
    open(
      <Confirm
        title="End this session"
        action="End the session"
        run={async () => {
          await endSession(id);
          if (sessions.some((each) => each.id === id && each.current)) location.reload();
        }}
      >
        That browser is signed out at once.
      </Confirm>,
    );
  return (
    <Card title="Where you are signed in" flush>
      <Sessions of={sessions} end={ask} />
      {dialog}
    </Card>
  );
}
