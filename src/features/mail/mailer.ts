/** Sends one mail: by Cloudflare's binding, or, under `npm start`, into the tray of this machine. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Env } from "../../env.ts";
import { mailSettings } from "../../platform/config.ts";
import { TIMED_OUT, withTimeLimit } from "../../platform/flow/concurrency.ts";
import type { Mail } from "./mail.ts";

type MailBindings = Pick<Env, "MAIL" | "MAIL_TRAY">;

export interface Mailer {
  /** Rejects when the mail was not sent. */
  send(to: string, mail: Mail): Promise<void>;
}

export interface TrayMail extends Mail {
  readonly from: string;
  readonly to: string;
}

const SENDER_NAME = "Atrium";

/** The limit of one attempt. A slower one may or may not have sent the mail. */
const SEND_LIMIT_MS = 20_000;

/** The mailer, and the origin of links in mails. Null when the deployment sends none, an INTERNAL_ERROR when it is set up wrongly. */
export function openMailer(env: Env): { readonly mailer: Mailer; readonly origin: string } | null {
  const settings = mailSettings(env);
  return settings && { mailer: mailerFor(env, settings.from), origin: settings.origin };
}

/** Sends a mail; `TIMED_OUT` when it is not known whether it was sent. Rejects, without naming the recipient, when it was not. */
export async function attemptMail(
  mailer: Mailer,
  to: string,
  mail: Mail,
): Promise<typeof TIMED_OUT | undefined> {
  try {
    if ((await withTimeLimit(mailer.send(to, mail), SEND_LIMIT_MS)) === TIMED_OUT) return TIMED_OUT;
  } catch (error) {
    // Errors may name the recipient, who does not belong into the log.
    throw new Error(String(error).replaceAll(to, "the recipient"));
  }
}

function mailerFor({ MAIL, MAIL_TRAY }: MailBindings, from: string): Mailer {
  if (MAIL_TRAY !== undefined) return { send: (to, mail) => putIntoTray(MAIL_TRAY, { from, to, ...mail }) };
  if (MAIL === undefined) {
    const problem =
      "The setting MAIL_FROM needs the binding MAIL: set MAIL_FROM in atrium.toml, and run `npm run deploy`, or remove the setting";
    throw new AppError("Server", "INTERNAL_ERROR", problem);
  }
  return {
    send: async (to, { headers, ...mail }) => {
      const sender = { email: from, name: SENDER_NAME };
      await MAIL.send({ from: sender, to, ...mail, ...(headers && { headers: { ...headers } }) });
    },
  };
}

async function putIntoTray(tray: Fetcher, mail: TrayMail): Promise<void> {
  const answer = await tray.fetch("http://mail.local/", { method: "POST", body: JSON.stringify(mail) });
  if (!answer.ok) throw new Error(`The mail could not be kept: ${await answer.text()}`);
}
