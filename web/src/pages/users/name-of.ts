interface Named {
  readonly platform_id: string;
  readonly external_id: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly user_aliases: readonly { readonly alias_name: string }[];
}

/** By what a person recognizes a user. */
export const nameOf = ({ external_id, email, user_aliases, phone, platform_id }: Named): string =>
  external_id ?? email ?? user_aliases[0]?.alias_name ?? phone ?? platform_id;
