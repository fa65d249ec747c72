/** A deployment that sends mail, and what it has sent: a stand-in for Cloudflare's binding. */
import { env } from "cloudflare:workers";
import type { Env } from "../../src/env.ts";
import { mailOutbox } from "../../src/features/mail/outbox.ts";
import { openDirectory } from "../../src/platform/d1/databases.ts";
import type { Settings } from "../../src/platform/settings.ts";
import { type Answer, freshAddress } from "../support/api.ts";
import { answerOf, pageRequest } from "../support/person.ts";

/** What links in mails begin with: another origin than requests have. */
export const LINKS = "https://mail-links.test";

export interface Sent {
  readonly to: string;
  readonly from: { readonly email: string; readonly name: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As the service's mailer passes it to the binding. */
const asSent = (message: object): Sent => message as Sent;

export class Mailbox {
  readonly sent: Sent[] = [];
  readonly env: Env;
  /** The error with which the mail service refuses a mail now; null while it takes mails. */
  refusal: Error | null = null;
  /** Whether the mail service takes mails, and never answers. */
  isSilent = false;

  constructor(settings: Settings = {}) {
    const send = async (message: object) => {
      if (this.refusal !== null) throw this.refusal;
      this.sent.push(asSent(message));
      if (this.isSilent) await new Promise(() => {});
      return { messageId: `<${this.sent.length}@mail.test>` };
    };
    this.env = { ...env, MAIL_FROM: "atrium@mail.test", MAIL_ORIGIN: LINKS, MAIL: { send }, ...settings };
  }

  /** What was sent to an address. */
  to = (address: string): readonly Sent[] => this.sent.filter(({ to }) => to === address);

  /** Sends what is due at a time (epoch ms). */
  async sendDue(now: number): Promise<void> {
    await mailOutbox(this.env)?.send(openDirectory(this.env), now);
  }

  /** Sends a request, and waits for what the service does after its response. */
  fetch<Data = Record<string, unknown>>(request: Request): Promise<Answer<Data>> {
    return answerOf(this.env, request);
  }

  /** The same as the dashboard's page does. */
  page<Data>(method: string, path: string, body?: object, address = freshAddress()): Promise<Answer<Data>> {
    return this.fetch(pageRequest(method, `/dashboard/api${path}`, body, { "CF-Connecting-IP": address }));
  }
}

/** The token of the link in a mail, which must begin with the deployment's origin. */
export function tokenOf({ text }: Sent, page: string): string {
  const prefix = `${LINKS}/dashboard/${page}/`;
  const link = text.split("\n").find((line) => line.startsWith(prefix));
  if (link === undefined) throw new Error(`No link to ${page} in:\n${text}`);
  return link.slice(prefix.length);
}
