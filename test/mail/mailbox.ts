/** A deployment that sends mail, and what it has sent: a stand-in for Cloudflare's binding. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { app } from "../../src/app.ts";
import type { Env } from "../../src/env.ts";
import type { Settings } from "../../src/platform/settings.ts";
import { type Answer, freshAddress, ORIGIN } from "../support/api.ts";

/** What links in mails begin with: another origin than requests have. */
export const LINKS = "https://mail-links.test";

export interface Sent {
  readonly to: string;
  readonly from: { readonly email: string; readonly name: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** As the service's mailer passes it to the binding. */
const asSent = (message: object): Sent => message as Sent;

export class Mailbox {
  readonly sent: Sent[] = [];
  readonly env: Env;

  constructor(settings: Settings = {}) {
    const send = async (message: object) => {
      this.sent.push(asSent(message));
      return { messageId: `<${this.sent.length}@mail.test>` };
    };
    this.env = { ...env, MAIL_FROM: "atrium@mail.test", MAIL_ORIGIN: LINKS, MAIL: { send }, ...settings };
  }

  /** What was sent to an address. */
  to = (address: string): readonly Sent[] => this.sent.filter(({ to }) => to === address);

  /** Sends a request, and waits for what the service does after its response. */
  async fetch<Data = Record<string, unknown>>(request: Request): Promise<Answer<Data>> {
    const execution = createExecutionContext();
    const response = await app.fetch(request, this.env, execution);
    await waitOnExecutionContext(execution);
    const envelope = await response.json<Omit<Answer<Data>, "status" | "headers">>();
    return { ...envelope, status: response.status, headers: response.headers };
  }

  /** The same as the dashboard's page does. */
  page<Data>(method: string, path: string, body?: object, address = freshAddress()): Promise<Answer<Data>> {
    const headers = {
      ...{ Origin: ORIGIN, "Sec-Fetch-Site": "same-origin", "CF-Connecting-IP": address },
      "Content-Type": "application/json",
    };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    return this.fetch(new Request(`${ORIGIN}/dashboard/api${path}`, init));
  }
}

/** The token of the link in a mail, which must begin with the deployment's origin. */
export function tokenOf({ text }: Sent, page: string): string {
  const prefix = `${LINKS}/dashboard/${page}/`;
  const link = text.split("\n").find((line) => line.startsWith(prefix));
  if (link === undefined) throw new Error(`No link to ${page} in:\n${text}`);
  return link.slice(prefix.length);
}
