import type { Context } from "../../core/base/context/context.ts";
import type { OidcSettings } from "../../core/base/oidc-settings.ts";
import type { Feature } from "../../core/feature.ts";
import { signInEndpoints } from "./endpoints.ts";
import { createIdentityProvider, readClientSecret } from "./identity-provider.ts";
import { createSignInLink, type LinkServices } from "./links.ts";
import { deleteExpiredLinks } from "./links-store.ts";
import { signInPages } from "./pages.ts";

interface SignInSettings {
  readonly oidc: OidcSettings | undefined;
}

export const feature = {
  name: "sign-in",
  endpoints: signInEndpoints,
  pages: signInPages,
  reference: [{ tag: "Dashboard", paths: ["/dashboard", "/admin/v1/sign-in-links"] }],
  async services(given: LinkServices, { oidc }: SignInSettings) {
    const identityProvider = oidc && (await createIdentityProvider(oidc));
    const hint = { sign_in: { oidc: identityProvider?.view ?? null } };
    return {
      identityProvider,
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
  sweeps: [deleteExpiredLinks],
} satisfies Feature;
