/** The challenge of Cloudflare Turnstile, for deployments that want programs kept from signing in and up. */

import { AppError } from "@atrium/contract/errors.ts";
import * as z from "zod";
import type { TurnstileSettings } from "../../platform/config.ts";

const TIMEOUT_MS = 5_000;

const Verdict = z.object({ success: z.boolean(), "error-codes": z.array(z.string()).default([]) });

const refused = (why: string) => new AppError("Auth", "VALIDATION_ERROR", `challenge: ${why}`);
const failed = (why: string) => new AppError("Auth", "INTERNAL_ERROR", why);

/** The challenge for a client at an address. Everyone passes it if the deployment has none. */
export const challengeFor = (settings: TurnstileSettings | null, address: string) => ({
  /** The key of the widget that pages show; null without one. */
  siteKey: settings?.siteKey ?? null,

  /** Verifies the widget's response. VALIDATION_ERROR unless it is passed, fresh and new; INTERNAL_ERROR without an answer. */
  async requirePassed(response: string | undefined): Promise<void> {
    if (settings === null) return;
    if (response === undefined || response === "")
      throw refused("confirm that you are a person, and then try again");
    const { success, "error-codes": codes } = await verify(settings, response, address);
    if (success) return;
    if (codes.some((code) => code.endsWith("-input-secret")))
      throw failed("The setting TURNSTILE_SECRET_KEY is not the secret of a widget; copy it again");
    throw refused("it was not passed or has expired; confirm again that you are a person");
  },
});

async function verify(
  { secretKey: secret, verifyUrl }: TurnstileSettings,
  response: string,
  address: string,
) {
  const body = new URLSearchParams({ secret, response, remoteip: address });
  try {
    const answer = await fetch(verifyUrl, { method: "POST", body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return Verdict.parse(await answer.json());
  } catch (cause) {
    const error = failed(
      "The challenge could not be verified, because Turnstile did not answer; try again in a minute",
    );
    error.cause = cause;
    throw error;
  }
}
