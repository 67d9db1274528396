import { startAuthentication, startRegistration } from "@simplewebauthn/browser";
import { hooks, http, queryClient, type Received, refresh, type Schemas } from "./client.ts";
import { SESSION_KEY, sendSignIn } from "./session.ts";

/* How people sign in: their own passwords, passkeys and sessions, and those of colleagues. */

const OWN = "/dashboard/credentials";
const PERSON = "/admin/v1/dashboard-users/{id}";
const CREDENTIALS = `${PERSON}/credentials` as const;
const SETTING = "/admin/v1/sign-in";

export type OwnCredentials = Received<"getOwnCredentials">;
export type PersonSession = Schemas["DashboardSession"];
export type Invitation = Received<"inviteDashboardUser">;

/** Signs in with a password; without one, with a passkey of this browser. */
export async function signInHere(password?: {
  readonly user_name: string;
  readonly password: string;
}): Promise<void> {
  if (password) await sendSignIn("password", password);
  else {
    const { options } = (await sendSignIn("passkey/options")) as { options: never };
    await sendSignIn("passkey", { response: await startAuthentication({ optionsJSON: options }) });
  }
  await queryClient.invalidateQueries({ queryKey: SESSION_KEY });
}

export const useOwnCredentials = () => hooks.useQuery("get", OWN);

/** What a change needs of people who have a password. */
type Confirmation = { readonly current_password?: string };

export function useChangeOwnCredentials() {
  const onSuccess = () => refresh(OWN);
  const password = hooks.useMutation("put", "/dashboard/password", { onSuccess });
  const noPassword = hooks.useMutation("delete", "/dashboard/password", { onSuccess });
  const passkey = hooks.useMutation("post", "/dashboard/passkeys", { onSuccess });
  const noPasskey = hooks.useMutation("delete", "/dashboard/passkeys/{passkey}", { onSuccess });
  const session = hooks.useMutation("delete", "/dashboard/sessions/{session}", { onSuccess });
  return {
    setPassword: (wanted: string, confirmation: Confirmation) =>
      password.mutateAsync({ body: { password: wanted, ...confirmation } }),
    removePassword: (body: Confirmation) => noPassword.mutateAsync({ body }),
    addPasskey: async (name: string, body: Confirmation) => {
      const { data } = await http.POST("/dashboard/passkeys/options", { body });
      const response = await startRegistration({ optionsJSON: data?.options as never });
      await passkey.mutateAsync({ body: { name, response: response as never } });
    },
    removePasskey: (id: string, body: Confirmation) =>
      noPasskey.mutateAsync({ params: { path: { passkey: id } }, body }),
    endSession: (id: string) => session.mutateAsync({ params: { path: { session: id } } }),
  };
}

export const useCredentialsOf = (id: string) =>
  hooks.useQuery("get", CREDENTIALS, { params: { path: { id } } });

export function useChangeCredentialsOf(id: string) {
  const onSuccess = () => refresh(PERSON.replace("{id}", ""), PERSON);
  const invite = hooks.useMutation("post", `${PERSON}/invitations`, { onSuccess });
  const remove = hooks.useMutation("delete", CREDENTIALS, { onSuccess });
  const session = hooks.useMutation("delete", `${PERSON}/sessions/{session}`, { onSuccess });
  return {
    invite: () => invite.mutateAsync({ params: { path: { id } } }),
    remove: () => remove.mutateAsync({ params: { path: { id } } }),
    endSession: (each: string) => session.mutateAsync({ params: { path: { id, session: each } } }),
  };
}

/** Invites a person who was just added. */
export const inviteNew = async (id: string): Promise<Invitation> => {
  const { data } = await http.POST(`${PERSON}/invitations`, { params: { path: { id } } });
  if (!data) throw new Error("The server made no link.");
  return data;
};

export const useSetLocalSignIn = () => {
  const { mutateAsync } = hooks.useMutation("patch", SETTING, { onSuccess: () => refresh(OWN) });
  return (local: boolean) => mutateAsync({ body: { local } });
};
