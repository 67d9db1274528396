import { Anchor, Button, PasswordInput, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";
import { messageOf } from "../api/api-error.ts";
import { type SessionState, useSignInWithToken } from "../api/session.ts";
import { Notice } from "../components/states.tsx";
import { Logo } from "./logo.tsx";

export function SignIn({ state: { oidc } }: { readonly state: SessionState }) {
  useEffect(() => {
    document.title = "Sign in · Rapport";
  }, []);
  return (
    <div className="sign-in">
      <main>
        <Logo size={36} />
        <h1>Sign in to Rapport</h1>
        {oidc ? (
          <Stack gap="md">
            <Text c="dimmed">Your organization signs people in.</Text>
            <Button component="a" href={returningTo(oidc.url)} fullWidth size="md">
              Continue with {oidc.name}
            </Button>
            <details>
              <summary className="dim">Use the admin token instead</summary>
              <TokenForm />
            </details>
          </Stack>
        ) : (
          <Stack gap="md">
            <Text c="dimmed">
              Open the link that the server printed when it started, or use its admin token.
            </Text>
            <TokenForm />
          </Stack>
        )}
      </main>
    </div>
  );
}

/** The identity provider sends the person back here: the address that they wanted. */
function returningTo(url: string): string {
  const path = location.pathname + location.search;
  return `${url}${url.includes("?") ? "&" : "?"}return_to=${encodeURIComponent(path)}`;
}

function TokenForm() {
  const signIn = useSignInWithToken();
  const { mutate, isPending, error } = useMutation({ mutationFn: signIn });
  const form = useForm({
    initialValues: { token: "" },
    validate: { token: (token) => (token.trim() ? null : "Enter the admin token.") },
  });
  return (
    <form onSubmit={form.onSubmit(({ token }) => mutate(token.trim()))}>
      <Stack gap="md" mt="xs">
        {error && <Notice tone="bad">{messageOf(error)}</Notice>}
        <PasswordInput
          label="Admin token"
          description={
            <>
              ADMIN_TOKEN, or the file <code>admin-token</code> in the data folder
            </>
          }
          autoComplete="current-password"
          {...form.getInputProps("token")}
        />
        <Button type="submit" loading={isPending} fullWidth>
          Sign in
        </Button>
        <Text size="sm" c="dimmed">
          Nothing works?{" "}
          <Anchor href="/docs" underline="always">
            See the guides
          </Anchor>
          .
        </Text>
      </Stack>
    </form>
  );
}
