/** Who may sign up, and the Turnstile widget that signing in and up may ask for. */
import { AppError } from "../errors.ts";
import { readSetting, type Settings } from "./settings.ts";

/** Who may sign up without an invitation: no one, unless the settings open it. */
export function signUpPolicy(env: Settings) {
  const type = readSetting(env, "SIGN_UP") || "invite";
  const allowed = readSetting(env, "SIGN_UP_DOMAINS");
  if (type !== "domains") return { type } as const;
  if (allowed.length > 0) return { type, domains: allowed } as const;
  const problem = 'The setting SIGN_UP_DOMAINS is empty; with SIGN_UP = "domains", it must name a domain';
  throw new AppError("Server", "INTERNAL_ERROR", problem);
}

export interface TurnstileSettings {
  /** Public: the pages contain it. */
  readonly siteKey: string;
  readonly secretKey: string;
  readonly verifyUrl: string;
}

/** Null unless the deployment has set both keys. */
export function turnstileSettings(env: Settings): TurnstileSettings | null {
  const siteKey = readSetting(env, "TURNSTILE_SITE_KEY");
  const secretKey = readSetting(env, "TURNSTILE_SECRET_KEY");
  if (siteKey === undefined && secretKey === undefined) return null;
  if (siteKey !== undefined && secretKey !== undefined)
    return { siteKey, secretKey, verifyUrl: readSetting(env, "TURNSTILE_VERIFY_URL") };
  const problem =
    "The settings TURNSTILE_SITE_KEY and TURNSTILE_SECRET_KEY belong together; set both or none";
  throw new AppError("Server", "INTERNAL_ERROR", problem);
}

/** Whether pages have a Turnstile widget, however the settings are to be completed. */
export const hasTurnstile = (env: Settings): boolean => readSetting(env, "TURNSTILE_SITE_KEY") !== undefined;
