import Type, { type Static } from "typebox";
import { named, nullable, Success, Text, TextOrNull } from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import {
  findInvitation,
  listPasskeys,
  readPassword,
  type Sessions,
} from "../dashboard-users/feature.ts";

/* What a person signs in with, and where they are signed in, for themselves and for administrators. */

export const Time = (description: string) => Text(description, "2026-01-01T12:00:00.000Z");

/** What a browser says of itself. */
export const UserAgent = Type.Object({
  "user-agent": Type.Optional(
    Text(
      "The browser; its kind is shown in the list of sessions.",
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0",
    ),
  ),
});

/** The beginning of a session's hash is enough to name it, and opens nothing. */
const ID_LENGTH = 16;

export const SessionId = Text("The id of the session.", "9f86d081884c7d65", {
  pattern: `^[0-9a-f]{${ID_LENGTH}}$`,
});

const PasskeyId = Text("The id of the passkey.", "q83vEjRWeJA");

const Passkey = named("DashboardPasskey", {
  id: PasskeyId,
  name: Text("The name that the person gave it.", "Laptop"),
  created_at: Time("When it was added."),
  last_used_at: nullable(Time("The last sign-in with it."), {
    description: "The last sign-in with it; null before the first.",
  }),
});

const SessionOfPerson = named("DashboardSession", {
  id: SessionId,
  way: TextOrNull(
    "How the person signed in: password, passkey, invitation, oidc, link or admin_token; null for sessions of earlier versions.",
    "password",
  ),
  browser: TextOrNull("Such as Firefox on Windows; null for other programs.", "Firefox on Windows"),
  address: TextOrNull("The address that the person signed in from.", "203.0.113.7"),
  created_at: Time("When it began."),
  last_used_at: Time("When it was last used, to the minute."),
  current: Type.Boolean({ description: "Whether this request belongs to it." }),
});

export const CREDENTIALS = {
  password_set_at: nullable(Time("When the password was set."), {
    description: "When the password was set; null if there is none.",
  }),
  passkeys: Type.Array(Passkey, { description: "The passkeys, the oldest first." }),
  invitation_until: nullable(Time("Until when the invitation works."), {
    description: "Until when the latest invitation works; null if there is none.",
  }),
  sessions: Type.Array(SessionOfPerson, {
    description: "Where the person is signed in, the latest used first.",
  }),
} as const;

export const Credentials = Type.Object(
  { ...CREDENTIALS, message: Success },
  { title: "Credentials", description: "What a person signs in with." },
);

export interface CredentialServices extends StoringServices {
  readonly sessions: Sessions;
}

/**
 * @param userId null: the administrator.
 * @param current the hash of the session that asks, if it is one of the person.
 */
export async function viewCredentials(
  { database, clock, sessions }: CredentialServices,
  userId: string | null,
  current: string | undefined,
): Promise<Omit<Static<typeof Credentials>, "message">> {
  const password = userId === null ? undefined : await readPassword(database, userId);
  const passkeys = userId === null ? [] : await listPasskeys(database, userId);
  const invitation =
    userId === null ? undefined : await findInvitation(database, userId, clock.now());
  return {
    password_set_at: password?.setAt.toISOString() ?? null,
    passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
      id,
      name,
      created_at: createdAt.toISOString(),
      last_used_at: lastUsedAt?.toISOString() ?? null,
    })),
    invitation_until: invitation?.expiresAt.toISOString() ?? null,
    sessions: (await sessions.list(userId)).map(({ hash, createdAt, lastUsedAt, ...session }) => ({
      ...session,
      id: hash.slice(0, ID_LENGTH),
      created_at: createdAt.toISOString(),
      last_used_at: lastUsedAt.toISOString(),
      current: hash === current,
    })),
  };
}
