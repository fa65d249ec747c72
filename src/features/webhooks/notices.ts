/** The mails to owners about a webhook: a high backlog, and that the service has disabled it. */

import { presentTime } from "@atrium/contract/time.ts";
import type { BacklogReport } from "../../delivery/subscriber/handler.ts";
import type { Notice } from "../mail/notices.ts";
import { DISABLED_MESSAGES } from "./disabled.ts";
import type { DisabledReason, WebhookRow } from "./table.ts";

const MEBIBYTE = 1024 * 1024;

const warningTopic = (id: string): string => `webhook ${id} backlogged`;
const disabledTopic = (id: string): string => `webhook ${id} disabled`;

type Named = Pick<WebhookRow, "id" | "url">;

export function backlogNotice({ id, url }: Named, report: BacklogReport): Notice {
  const { deliveries, bytes, oldestAt, eventId, now } = report;
  const since = oldestAt === null ? "" : `, the oldest since ${presentTime(oldestAt)}`;
  const size = Math.max(1, Math.round(bytes / MEBIBYTE));
  return {
    id: eventId,
    topic: warningTopic(id),
    coveredBy: [disabledTopic(id)],
    now,
    page: `/webhooks/${id}`,
    subject: "a webhook has a high backlog",
    paragraphs: [
      `${deliveries} deliveries (${size} MiB) wait for the webhook ${url}${since}. Its receiver fails, or is slower than events arrive.`,
      "When the backlog becomes too large, the service disables the webhook, and keeps the waiting events.",
    ],
  };
}

export const disabledNotice = (
  { id, url, updatedAt }: WebhookRow,
  reason: DisabledReason,
  now: number,
): Notice => ({
  id: `${id} ${updatedAt}`,
  topic: disabledTopic(id),
  now,
  page: `/webhooks/${id}`,
  subject: "a webhook was disabled",
  paragraphs: [`The service has disabled the webhook ${url}.`, DISABLED_MESSAGES[reason]],
});
