import { InvalidArgumentError } from "commander";

/** The value of an option such as `--limit`. */
export function readCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is a whole number above 0.");
}
