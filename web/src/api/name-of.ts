interface Named {
  readonly platform_id: string;
  readonly external_id: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly user_aliases: readonly { readonly alias_name: string }[];
}

/** The name by which a person recognizes a user. */
export const nameOf = ({ external_id, email, user_aliases, phone, platform_id }: Named): string =>
  external_id ?? email ?? user_aliases[0]?.alias_name ?? phone ?? platform_id;

interface FullyNamed {
  readonly first_name: string | null;
  readonly last_name: string | null;
}

/** `Ada Lovelace`; empty if neither name is set. */
export const fullNameOf = ({ first_name, last_name }: FullyNamed): string =>
  [first_name, last_name].join(" ").trim();
