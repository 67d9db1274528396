import Type from "typebox";
import type { CompanyContext } from "../../base/context/context.ts";
import { asciiDomain } from "../../base/values/domains.ts";
import { ClosedObject } from "../../base/values/schemas.ts";
import type { Transaction } from "../../database/database.ts";
import { type ConfigChange, describe, difference, type Resource } from "./resource.ts";
import { selectMailDomains, updateMailDomains } from "./store.ts";

const KEY = "mail_domains";

const MOST_DOMAINS = 100;

/** Names with dots between them. */
const NAMES = /^[^\s@.]+(\.[^\s@.]+)+$/;

const isDomain = (text: string): boolean => /^[a-z\d-]+(\.[a-z\d-]+)+$/.test(asciiDomain(text));

// Converting takes a while: of a list that is too long nothing is converted.
const MailDomains = Type.Refine(
  Type.Array(
    Type.Refine(
      Type.String({ maxLength: 253, examples: ["acme.example"] }),
      (text) => NAMES.test(text),
      () => "must be a domain, such as acme.example",
    ),
    {
      maxItems: MOST_DOMAINS,
      description:
        "The domains whose addresses roles of a workspace may name as contacts, besides dashboard users. docs/mail.md",
    },
  ),
  (domains) => domains.length > MOST_DOMAINS || domains.every(isDomain),
  () => "must have domains only, such as acme.example",
);

async function save(
  tx: Transaction,
  { company }: CompanyContext,
  declared: readonly string[],
): Promise<ConfigChange[]> {
  const wanted = [...new Set(declared.map(asciiDomain))].sort();
  const present = await selectMailDomains(tx, company.id);
  const diff = difference([present], [wanted], () => KEY);
  if (diff.updated.length > 0) await updateMailDomains(tx, company.id, wanted);
  return describe(
    KEY,
    "",
    diff,
    () => KEY,
    (domains) => ({ [KEY]: domains }),
  );
}

/** Where contacts of a workspace may be, unless the company names them itself. */
export const mailDomains: Resource<CompanyContext> = {
  key: KEY,
  isFirst: true,
  permissions: { read: "manage_company_settings", write: "admin" },
  schema: MailDomains,
  body: ClosedObject({ [KEY]: MailDomains }),
  view: { [KEY]: MailDomains },
  apply: (tx, _services, context, declared: readonly string[]) => save(tx, context, declared),
  async declaration(database, _from, { company }) {
    const domains = await selectMailDomains(database, company.id);
    return domains.length > 0 ? domains : undefined;
  },
  read: async (database, { company }) => [{ [KEY]: await selectMailDomains(database, company.id) }],
  put: (tx, _services, context, entry) => save(tx, context, entry[KEY] as string[]),
};
