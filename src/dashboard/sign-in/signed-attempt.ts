import { createHmac, timingSafeEqual } from "node:crypto";
import type { SignInAttempt } from "./identity-provider.ts";

/*
 * The attempt as it travels in the browser's cookie: signed, so that only a sign-in which the server began comes back,
 * and only for ten minutes. Any server on the database can check it.
 */

const VALID_MS = 600_000;

interface Content extends SignInAttempt {
  readonly until: number;
}

/** @param keySource of a secret that all servers on the database have. */
export function signAttempt(attempt: SignInAttempt, keySource: string, now: Date): string {
  const content: Content = { ...attempt, until: now.getTime() + VALID_MS };
  const text = Buffer.from(JSON.stringify(content)).toString("base64url");
  return `${text}.${signatureOf(text, keySource).toString("base64url")}`;
}

/** @returns undefined for what no server signed, or too long ago. */
export function readAttempt(
  cookie: string,
  keySource: string,
  now: Date,
): SignInAttempt | undefined {
  const [text = "", signature = ""] = cookie.split(".");
  const given = Buffer.from(signature, "base64url");
  const wanted = signatureOf(text, keySource);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
  const { until, ...attempt } = JSON.parse(Buffer.from(text, "base64url").toString()) as Content;
  return now.getTime() <= until ? attempt : undefined;
}

const signatureOf = (text: string, keySource: string): Buffer =>
  createHmac("sha256", `sign-in attempts ${keySource}`).update(text).digest();
