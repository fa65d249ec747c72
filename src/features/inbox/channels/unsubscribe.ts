/** One click in a mail ends the mails about notifications to an identity (RFC 8058). */

import type {
  NotificationSettings,
  NotificationSettingsUpdate,
} from "@atrium/contract/resources/notification-settings.ts";
import { openInbox } from "../../../delivery/inboxes.ts";
import type { Env } from "../../../env.ts";
import { withPageHeaders } from "../../../http/security.ts";
import { type JwtSecrets, jwtSecrets } from "../../../platform/config.ts";
import { sealerFor } from "../../../platform/crypto/sealer.ts";
import type { InboxKey } from "../shard/sender.ts";

const PURPOSE = "atrium unsubscribe";
const PLACE = ["unsubscribe"];

type Inbox = {
  changeSettings(
    identityId: string,
    update: NotificationSettingsUpdate,
  ): Promise<NotificationSettings | string | null>;
};

/** The link in a mail. It works while the deployment has its secret, or the one before. */
export async function unsubscribeUrl(
  secrets: JwtSecrets,
  origin: string,
  { accountId, identityId }: InboxKey,
): Promise<string> {
  const text = JSON.stringify([accountId, identityId]);
  const { keyId, sealed } = await sealerFor(secrets, PURPOSE).seal(text, PLACE);
  return `${origin}/unsubscribe?${new URLSearchParams({ token: `${keyId}.${sealed}` })}`;
}

async function subscriberOf(secrets: JwtSecrets, token: string): Promise<InboxKey | null> {
  const [keyId = "", sealed = ""] = token.split(".");
  try {
    const text = await sealerFor(secrets, PURPOSE).open({ keyId, sealed }, PLACE);
    const [accountId, identityId] = JSON.parse(text) as [string, string];
    return { accountId, identityId };
  } catch {
    return null;
  }
}

/** A GET asks, because programs follow links as well; a POST does it. */
export async function unsubscribeResponse(request: Request, env: Env): Promise<Response> {
  const url = new URL(request.url);
  const subscriber = await subscriberOf(jwtSecrets(env), url.searchParams.get("token") ?? "");
  if (subscriber === null)
    return page(
      url,
      404,
      "This link is not complete. Copy it as a whole from the mail, or open a newer mail.",
    );
  if (request.method !== "POST")
    return page(url, 200, "Do you want to receive no more mails about unread notifications?", true);
  const { accountId, identityId } = subscriber;
  const inbox = openInbox<Inbox>(env)(accountId, identityId);
  await inbox.changeSettings(identityId, { email: { enabled: false } });
  return page(url, 200, "You receive no more mails about unread notifications.");
}

function page(url: URL, status: number, text: string, asksToConfirm = false): Response {
  const form = '<form method="post"><button>Receive no more mails</button></form>';
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex"><link rel="stylesheet" href="/assets/docs/docs.css"><title>Mails about notifications</title></head>
<body><main><h1>Mails about notifications</h1><p>${text}</p>${asksToConfirm ? form : ""}</main></body></html>`;
  const headers = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" };
  return withPageHeaders(new Response(html, { status, headers }), url, { "form-action": "'self'" });
}
