import { actsForCompany, type Context } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import { asciiDomain } from "../../base/values/domains.ts";
import type { Queryable } from "../../database/database.ts";
import { findCompany } from "./find-workspace.ts";
import type { Colleagues } from "./resource.ts";
import { selectMailDomains } from "./store.ts";

export const MOST_CONTACTS = 20;

const domainOf = (address: string): string =>
  asciiDomain(address.slice(address.lastIndexOf("@") + 1));

/**
 * Checks whom a thing of a workspace mails. The company may name any address; anyone else only dashboard users and
 * addresses in the company's mail domains, so that no role can send mail to strangers. What is stored may stay.
 *
 * @param stored the present contacts of the thing.
 * @param path of the thing in a manifest.
 * @throws Problem INVALID_REQUEST
 */
export async function checkContacts(
  database: Queryable,
  { colleaguesAmong }: Colleagues,
  context: Context,
  wanted: readonly string[],
  stored: readonly string[],
  path: readonly (string | number)[],
): Promise<void> {
  const known = new Set(stored);
  const added = wanted.filter((address) => !known.has(address));
  if (added.length === 0) return;
  const details = { body: { path: [...path, "contact_emails"] } };
  if (wanted.length > MOST_CONTACTS) {
    const message = `'contact_emails' must not have more than ${MOST_CONTACTS} addresses`;
    throw new Problem("INVALID_REQUEST", message, details);
  }
  if (actsForCompany(context)) return;
  const company = await findCompany(database);
  const domains = new Set(await selectMailDomains(database, company.id));
  const colleagues = await colleaguesAmong(database, company.id, added);
  const stranger = added.find(
    (address) => !colleagues.has(address) && !domains.has(domainOf(address)),
  );
  if (stranger === undefined) return;
  const message = `'contact_emails' must name dashboard users, or addresses in the company's 'mail_domains': '${stranger}' is neither`;
  throw new Problem("INVALID_REQUEST", message, details);
}
