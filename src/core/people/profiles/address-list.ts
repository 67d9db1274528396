import { MOST_CONTACTS } from "../../admin/workspaces/contacts.ts";
import { checkEmail, unseenPart } from "./addresses.ts";

/* Email addresses in one text, separated by commas. */

/** Whether a text holds email addresses, separated by commas. Of too many none is checked: `checkContacts` refuses them. */
export function areAddresses(text: string): boolean {
  const addresses = addressesIn(text);
  return (
    addresses.length > MOST_CONTACTS ||
    addresses.every((address) => !("fault" in checkEmail(address)))
  );
}

/** The sentence for a refused text, with the character that it must not have. */
export const addressesRule = (text: string): string =>
  `must hold email addresses, separated by commas${unseenPart(text)}`;

/** The email addresses of a list that is separated by commas. */
export const addressesIn = (text: string): string[] =>
  text
    .split(",")
    .map((address) => address.trim())
    .filter(Boolean);
