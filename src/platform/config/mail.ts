/** Whether the service sends mail, and from whom. */
import { AppError } from "../errors.ts";
import { publicOrigin } from "./hosts.ts";
import { readSetting, type Settings } from "./settings.ts";

export interface MailSettings {
  readonly from: string;
  /** What their links begin with, such as `https://atrium.example`: never what a request says of itself. */
  readonly origin: string;
}

/** Null when the deployment sends no mail. */
export function mailSettings(env: Settings): MailSettings | null {
  const from = readSetting(env, "MAIL_FROM");
  if (from === undefined) return null;
  const links = publicOrigin(env) ?? readSetting(env, "MAIL_ORIGIN");
  if (links !== undefined) return { from, origin: links };
  const problem = "The setting MAIL_FROM needs PUBLIC_ORIGIN, which the links in mails begin with; set both";
  throw new AppError("Server", "INTERNAL_ERROR", problem);
}
