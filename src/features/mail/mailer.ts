/** Sends one mail: by Cloudflare's binding, or, under `npm start`, into the tray of this machine. */
import type { Env } from "../../env.ts";
import { AppError } from "../../platform/errors.ts";
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

/** The mailer for the bindings that there are. Throws an INTERNAL_ERROR without any. */
export function mailerFor({ MAIL, MAIL_TRAY }: MailBindings, from: string): Mailer {
  if (MAIL_TRAY !== undefined) return { send: (to, mail) => putIntoTray(MAIL_TRAY, { from, to, ...mail }) };
  if (MAIL === undefined) {
    const problem =
      "The setting MAIL_FROM needs the binding MAIL: uncomment [[send_email]] in wrangler.toml, or remove the setting";
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
