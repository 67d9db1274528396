import { Anchor, Button, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useEffect } from "react";
import { messageOf } from "../api/api-error.ts";
import { type SessionState, useSignInWithToken } from "../api/session.ts";
import { Notice } from "../components/states.tsx";
import { Logo } from "./logo.tsx";

export function SignIn({ state: { oidc, local, message } }: { readonly state: SessionState }) {
  useEffect(() => {
    document.title = "Sign in · Rapport";
  }, []);
  return (
    <div className="sign-in">
      <main>
        <Logo size={36} />
        <h1>Sign in to Rapport</h1>
        <Stack gap="md">
          {message && message !== NOT_SIGNED_IN && <Notice>{message}</Notice>}
          {oidc && (
            <Button component="a" href={returningTo(oidc.url)} fullWidth size="md">
              Continue with {oidc.name}
            </Button>
          )}
          {local && <LocalSignIn isFirst={!oidc} />}
          {/* Without a provider, the first person who signs in has nothing else. */}
          <details open={oidc === null}>
            <summary className="dim">You have no link, password or passkey?</summary>
            <Help hasProvider={oidc !== null} isLocal={local} />
          </details>
        </Stack>
      </main>
    </div>
  );
}

/** What the server says to everyone who is not signed in. */
const NOT_SIGNED_IN = "You are not signed in.";

/** The identity provider sends the person back here: the address that they wanted. */
function returningTo(url: string): string {
  const path = location.pathname + location.search;
  return `${url}${url.includes("?") ? "&" : "?"}return_to=${encodeURIComponent(path)}`;
}

/** Whether this browser may have passkeys at this address. */
const mayHavePasskeys = (): boolean =>
  "PublicKeyCredential" in window && isSecureContext && !/^[\d.]+$|^\[/.test(location.hostname);

/** The library of passkeys is loaded when somebody signs in. */
const signInWith = async (password?: { readonly user_name: string; readonly password: string }) => {
  const { signInHere } = await import("../api/sign-in.ts");
  await signInHere(password);
};

function LocalSignIn({ isFirst }: { readonly isFirst: boolean }) {
  const { mutate, isPending, error, variables } = useMutation({ mutationFn: signInWith });
  const form = useForm({
    initialValues: { user_name: "", password: "" },
    validate: {
      user_name: (text) => (text.trim() ? null : "Enter your email address."),
      password: (text) => (text ? null : "Enter your password."),
    },
  });
  return (
    <form
      onSubmit={form.onSubmit((values) =>
        mutate({ ...values, user_name: values.user_name.trim() }),
      )}
    >
      <Stack gap="md">
        {error && <Notice tone="bad">{messageOf(error)}</Notice>}
        <TextInput
          label="Email address"
          type="email"
          autoComplete="username"
          maxLength={254}
          {...form.getInputProps("user_name")}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          maxLength={256}
          {...form.getInputProps("password")}
        />
        <Button
          type="submit"
          fullWidth
          variant={isFirst ? "filled" : "default"}
          loading={isPending && variables !== undefined}
        >
          Sign in
        </Button>
        {mayHavePasskeys() && (
          <Button
            variant="default"
            fullWidth
            leftSection={<KeyRound size={15} />}
            loading={isPending && variables === undefined}
            onClick={() => mutate(undefined)}
          >
            Sign in with a passkey
          </Button>
        )}
      </Stack>
    </form>
  );
}

interface HelpProps {
  readonly hasProvider: boolean;
  readonly isLocal: boolean;
}

/** How to get in for people who cannot. */
const Help = ({ hasProvider, isLocal }: HelpProps) => (
  <Stack gap="md" mt="xs">
    {isLocal && (
      <Text size="sm">
        A colleague can make a link for you: company settings, Dashboard users, your name, Invite.
        It works once, for seven days, and you choose a password or a passkey after it.
      </Text>
    )}
    {hasProvider && !isLocal && (
      <Text size="sm">
        Only the identity provider signs people in here. Ask its administrators.
      </Text>
    )}
    <Text size="sm">
      On the machine of the server, <code>npx rapport-server sign-in</code> prints a link that signs
      in the administrator once. The admin token does, too:
    </Text>
    <TokenForm />
    <Text size="sm" c="dimmed">
      Nothing works?{" "}
      <Anchor href="/docs" underline="always">
        See the guides
      </Anchor>
      .
    </Text>
  </Stack>
);

function TokenForm() {
  const signIn = useSignInWithToken();
  const { mutate, isPending, error } = useMutation({ mutationFn: signIn });
  const form = useForm({
    initialValues: { token: "" },
    validate: { token: (token) => (token.trim() ? null : "Enter the admin token.") },
  });
  return (
    <form onSubmit={form.onSubmit(({ token }) => mutate(token.trim()))}>
      <Stack gap="md">
        {error && <Notice tone="bad">{messageOf(error)}</Notice>}
        <PasswordInput
          label="Admin token"
          description={
            <>
              ADMIN_TOKEN, or the file <code>admin-token</code> in the data folder
            </>
          }
          autoComplete="off"
          {...form.getInputProps("token")}
        />
        <Button type="submit" variant="default" loading={isPending} fullWidth>
          Sign in with the token
        </Button>
      </Stack>
    </form>
  );
}
