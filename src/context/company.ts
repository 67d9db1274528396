/** The company on whose behalf a request runs: the one that the workspaces of a server belong to. */
export interface Company {
  readonly id: string;
  readonly name: string;
}

/** The holder of a SCIM token. */
export interface TokenHolder {
  readonly tokenId: string;
  readonly tokenName: string;
  readonly company: Company;
  /** What `X-Request-Origin` has to be; undefined where the token does not ask for it. */
  readonly requiredOrigin: string | undefined;
}
