import type { Context } from "../../core/base/context/context.ts";
import type { OidcSettings } from "../../core/base/oidc-settings.ts";
import type { Feature } from "../../core/feature.ts";
import { createChallenges } from "./challenges.ts";
import { signInEndpoints } from "./endpoints.ts";
import { createIdentityProvider, readClientSecret } from "./identity-provider.ts";
import { createSignInLink, type LinkServices } from "./links.ts";
import { createLocalSignIn } from "./local-sign-in.ts";
import { signInPages } from "./pages.ts";
import { createPasswordHashes, type PasswordCost } from "./password-hashes.ts";
import { createPasswordGuesses } from "./passwords.ts";

interface Given extends Pick<LinkServices, "database" | "clock" | "sessions"> {
  readonly adminTokenHash: string;
}

interface SignInSettings {
  readonly oidc: OidcSettings | undefined;
  readonly passwordCost?: PasswordCost | undefined;
}

export const feature = {
  name: "sign-in",
  endpoints: signInEndpoints,
  pages: signInPages,
  reference: [{ tag: "Dashboard", paths: ["/dashboard", "/admin/v1/sign-in-links"] }],
  async services(given: Given, { oidc, passwordCost }: SignInSettings) {
    const identityProvider = oidc && (await createIdentityProvider(oidc));
    const localSignIn = createLocalSignIn(given.database, identityProvider?.view.name);
    const hint = async () => ({
      sign_in: { oidc: identityProvider?.view ?? null, local: await localSignIn.wasOn() },
    });
    return {
      identityProvider,
      localSignIn,
      passwordHashes: createPasswordHashes(passwordCost),
      passwordGuesses: createPasswordGuesses(),
      challenges: createChallenges(given.adminTokenHash),
      signInHint: hint,
      newSignInLink: async (context: Context, baseUrl: string) =>
        (await createSignInLink(given, context, baseUrl)).url,
    };
  },
  settingChecks: {
    async "sign-in"({ oidc }: SignInSettings) {
      if (oidc === undefined) return undefined;
      await readClientSecret(oidc);
      return `People sign in with ${oidc.issuer}.`;
    },
  },
} satisfies Feature;
