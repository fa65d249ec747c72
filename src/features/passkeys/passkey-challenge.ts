/** The challenges that authenticators sign. Each carries its time and a signature, so the service remembers none. */
import { createHmac, randomBytes } from "node:crypto";
import { parseJson } from "@atrium/contract/text.ts";
import { MINUTE_MS } from "@atrium/contract/time.ts";
import * as z from "zod";
import { equalInConstantTime } from "../../http/security.ts";

/** A challenge is answered within this time, or not at all. */
export const CHALLENGE_LIFETIME_MS = 5 * MINUTE_MS;

const RANDOM_BYTES = 16;

const ClientData = z.object({ challenge: z.string() });

const sign = (content: string, purpose: string, secret: string): string =>
  createHmac("sha256", secret).update(`passkey challenge ${purpose} ${content}`).digest("base64url");

/** A new challenge that is good for one purpose, made at `now` (epoch milliseconds), in base64url. */
export function createChallenge(purpose: string, secret: string, now: number): string {
  const content = `${now}.${randomBytes(RANDOM_BYTES).toString("base64url")}`;
  return Buffer.from(`${content}.${sign(content, purpose, secret)}`).toString("base64url");
}

/** The challenge in a browser's data of an answer, in base64url; empty without one. */
export function challengeIn(clientDataJSON: string): string {
  const { data } = ClientData.safeParse(parseJson(Buffer.from(clientDataJSON, "base64url").toString()));
  return data?.challenge ?? "";
}

/** When a challenge was made (epoch milliseconds), given in base64url; null for a foreign or expired one. */
export function readChallenge(encoded: string, purpose: string, secret: string, now: number): number | null {
  const [at = "", random = "", signature = ""] = Buffer.from(encoded, "base64url").toString().split(".");
  if (!equalInConstantTime(signature, sign(`${at}.${random}`, purpose, secret))) return null;
  return now - Number(at) > CHALLENGE_LIFETIME_MS ? null : Number(at);
}
