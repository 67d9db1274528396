/** How people sign in through an OpenID Connect provider. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** A path; there only where `clientSecret` is not. */
  readonly clientSecretFile: string | undefined;
  /** The provider's name for people. */
  readonly name: string;
  /** The claim with the user name; for `email` the provider must say that it is verified. */
  readonly userClaim: string;
}
