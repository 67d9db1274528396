import type { Intake } from "../base/context/workspace-settings.ts";
import { accepted, type Checked, refused } from "../base/problem.ts";
import { textOf } from "../people/profiles/identifiers.ts";
import type { CheckedItem } from "./check-attributes.ts";
import { checkName, checkOccurrence, needingNothing } from "./check-event.ts";
import type { RawItem } from "./check-identity.ts";
import { endOfCurrency, isCurrency } from "./currencies.ts";

const MOST_IN_ONE_PURCHASE = 100;

/** spec: Purchase object; the required members are a decision (docs/decisions/values.md). */
export function checkPurchase(raw: RawItem, now: Date, intake: Intake): Checked<CheckedItem> {
  const occurrence = checkOccurrence(raw, now, intake);
  if ("fault" in occurrence) return occurrence;
  const productId = checkName(textOf(raw.product_id), "product_id");
  if ("fault" in productId) return productId;
  const currency = checkCurrency(raw.currency, occurrence.value.time);
  if ("fault" in currency) return currency;
  const price = checkPrice(raw.price);
  if ("fault" in price) return price;
  const quantity = checkQuantity(raw.quantity);
  if ("fault" in quantity) return quantity;
  const { identifier, creates, ...rest } = occurrence.value;
  return accepted(
    needingNothing(identifier, creates, {
      kind: "purchase",
      productId: productId.value,
      currency: currency.value,
      price: price.value,
      quantity: quantity.value,
      ...rest,
    }),
  );
}

/** A withdrawn code is valid for purchases of its time. docs/decisions/money.md */
function checkCurrency(value: unknown, at: Date): Checked<string> {
  const code = typeof value === "string" ? value.toUpperCase() : "";
  if (isCurrency(code, at)) return accepted(code);
  const end = endOfCurrency(code, at);
  return refused(
    "INVALID_CURRENCY",
    end
      ? `'currency' is not valid: '${code}' was withdrawn on ${end}, before the time of the purchase`
      : "'currency' is not valid: it must be an ISO 4217 code",
  );
}

/** A negative price is a refund. docs/decisions/money.md */
function checkPrice(value: unknown): Checked<number> {
  if (typeof value === "number") return accepted(value);
  return refused("INVALID_PRICE", "'price' is not valid: it must be a number");
}

function checkQuantity(value: unknown): Checked<number> {
  if (value === undefined || value === null) return accepted(1);
  const isWhole = typeof value === "number" && Number.isInteger(value);
  if (isWhole && value >= 1 && value <= MOST_IN_ONE_PURCHASE) return accepted(value);
  return refused(
    "INVALID_QUANTITY",
    "'quantity' is not valid: it must be a whole number from 1 to 100",
  );
}
