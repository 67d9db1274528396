import { Button, PasswordInput, Stack, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { useSession } from "../../api/session.ts";
import {
  type OwnCredentials,
  useChangeOwnCredentials,
  useOwnCredentials,
} from "../../api/sign-in.ts";
import { Confirm } from "../../components/confirm.tsx";
import { actions, type Column, column, DataTable } from "../../components/data-table.tsx";
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
  const own = useOwnCredentials();
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
      <Loaded from={own}>
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

type Dialog = { readonly kind: "add" } | { readonly kind: "remove"; readonly id: string };

function OwnPasskeys({ credentials }: CredentialsProps) {
  const { passkeys, passkeys_work: doWork } = credentials;
  const mayAdd = doWork && "PublicKeyCredential" in window;
  const { addPasskey, removePasskey } = useChangeOwnCredentials();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
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
            onClick={() => setDialog({ kind: "add" })}
          >
            Add a passkey
          </Button>
        )
      }
    >
      <DataTable
        label="Passkeys"
        columns={passkeyColumns((id) => setDialog({ kind: "remove", id }))}
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
      {dialog?.kind === "add" && (
        <FormDialog
          title="Add a passkey"
          action="Continue"
          initial={{ name: "This device", current_password: "" }}
          validate={{ name: required, ...asking(credentials) }}
          close={close}
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
              <CurrentPassword
                credentials={credentials}
                {...form.getInputProps("current_password")}
              />
            </>
          )}
        </FormDialog>
      )}
      {dialog?.kind === "remove" && (
        <FormDialog
          title="Remove the passkey"
          action="Remove"
          isDangerous
          initial={{ current_password: "" }}
          validate={asking(credentials)}
          close={close}
          save={({ current_password }) => removePasskey(dialog.id, confirmed(current_password))}
        >
          {(form) => (
            <>
              <div>It does not sign you in any more. Remove it from the device as well.</div>
              <CurrentPassword
                credentials={credentials}
                {...form.getInputProps("current_password")}
              />
            </>
          )}
        </FormDialog>
      )}
    </Card>
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

const SHORTEST = 12;

const isLong = (text: string): string | null =>
  [...text].length >= SHORTEST ? null : `At least ${SHORTEST} characters.`;

function Password({ credentials }: CredentialsProps) {
  const { password_set_at: setAt } = credentials;
  const { person } = useSession();
  const { setPassword, removePassword } = useChangeOwnCredentials();
  const [dialog, setDialog] = useState<"set" | "remove">();
  const close = () => setDialog(undefined);
  return (
    <Card
      title="Password"
      about={
        setAt ? undefined : "For browsers without your passkey. A few words in a row are good."
      }
      actions={
        <>
          {setAt && (
            <Button size="xs" variant="default" onClick={() => setDialog("remove")}>
              Remove
            </Button>
          )}
          <Button size="xs" variant="default" onClick={() => setDialog("set")}>
            {setAt ? "Change the password" : "Set a password"}
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
      {dialog === "set" && (
        <FormDialog
          title={setAt ? "Change the password" : "Set a password"}
          initial={{ password: "", again: "", current_password: "" }}
          validate={{
            password: isLong,
            again: (text, { password }) =>
              text === password ? null : "It differs from the first.",
            ...asking(credentials),
          }}
          close={close}
          save={async ({ password, current_password }) => {
            await setPassword(password, confirmed(current_password));
            tellDone("Saved the password. Your other sessions have ended.");
          }}
        >
          {(form) => (
            <>
              {/* Password managers keep the password for this name. */}
              <input type="hidden" autoComplete="username" value={person.user_name} readOnly />
              <CurrentPassword
                credentials={credentials}
                {...form.getInputProps("current_password")}
              />
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
      )}
      {dialog === "remove" && (
        <FormDialog
          title="Remove the password"
          action="Remove"
          isDangerous
          initial={{ current_password: "" }}
          validate={asking(credentials)}
          close={close}
          save={({ current_password }) => removePassword(confirmed(current_password))}
        >
          {(form) => (
            <Stack>
              <div>
                {credentials.passkeys.length > 0
                  ? "You sign in with a passkey from now on."
                  : "You have no passkey: you need a new link from a colleague to sign in again."}
              </div>
              <CurrentPassword
                credentials={credentials}
                {...form.getInputProps("current_password")}
              />
            </Stack>
          )}
        </FormDialog>
      )}
    </Card>
  );
}

function OwnSessions({ credentials: { sessions } }: CredentialsProps) {
  const { endSession } = useChangeOwnCredentials();
  const [id, setId] = useState<string>();
  return (
    <Card title="Where you are signed in" flush>
      <Sessions of={sessions} end={setId} />
      {id && (
        <Confirm
          title="End this session"
          action="End the session"
          close={() => setId(undefined)}
          run={async () => {
            await endSession(id);
            if (sessions.some((each) => each.id === id && each.current)) location.reload();
          }}
        >
          That browser is signed out at once.
        </Confirm>
      )}
    </Card>
  );
}
