/** Disables a webhook that cannot go on, and notifies of that and of a high backlog. */
import { fanOutAbout } from "../../delivery/fan-out.ts";
import { disableSubscriber } from "../../delivery/outbox/subscriber-store.ts";
import type { BacklogReport } from "../../delivery/subscriber/handler.ts";
import { announceChange, type DeliveryObjects } from "../../delivery/subscribers.ts";
import type { Env } from "../../env.ts";
import type { Tenant } from "../../platform/d1/d1.ts";
import { presentTime } from "../../platform/time.ts";
import { type Notice, notifyOwners } from "../mail/notices.ts";
import { presentBacklogged } from "./sample-event.ts";
import { DISABLED_MESSAGES, presentWebhook } from "./schema.ts";
import { markBacklogged } from "./store.ts";
import type { DisabledReason, StoredWebhook, WebhookRow } from "./table.ts";

/** The mails to owners about a webhook: that much waits for it, and that the service has disabled it. */
const MEBIBYTE = 1024 * 1024;

const warningTopic = (id: string): string => `webhook ${id} backlogged`;
const disabledTopic = (id: string): string => `webhook ${id} disabled`;

type Named = Pick<WebhookRow, "id" | "url">;

function backlogNotice({ id, url }: Named, report: BacklogReport): Notice {
  const { deliveries, bytes, oldestAt, eventId, now } = report;
  const since = oldestAt === null ? "" : `, the oldest since ${presentTime(oldestAt)}`;
  const size = Math.max(1, Math.round(bytes / MEBIBYTE));
  return {
    ...{ id: eventId, topic: warningTopic(id), coveredBy: [disabledTopic(id)], now, page: `/webhooks/${id}` },
    subject: "much waits for a webhook",
    paragraphs: [
      `${deliveries} deliveries (${size} MiB) wait for the webhook ${url}${since}. Its receiver fails, or is slower than events arrive.`,
      "When too much waits, the service disables the webhook, and keeps what waits.",
    ],
  };
}

const disabledNotice = ({ id, url, updatedAt }: WebhookRow, reason: DisabledReason, now: number): Notice => ({
  ...{ id: `${id} ${updatedAt}`, topic: disabledTopic(id), now, page: `/webhooks/${id}` },
  subject: "a webhook was disabled",
  paragraphs: [`The service has disabled the webhook ${url}.`, DISABLED_MESSAGES[reason]],
});

/** The owners know of webhooks that were disabled longer ago. */
const NOTICE_MS = 60 * 60 * 1000;

interface DisablingPorts {
  readonly env: Env;
  readonly tenant: Tenant;
  readonly objects: DeliveryObjects;
  now(): number;
  log(message: string, error: unknown): void;
}

export class Disabling {
  readonly #id: string;
  readonly #ports: DisablingPorts;
  /** The version of the row that was disabled, once the owners are notified of it. */
  #notifiedOf: number | null = null;

  constructor(id: string, ports: DisablingPorts) {
    this.#id = id;
    this.#ports = ports;
  }

  /** Disables the webhook, unless its row has changed since it was read. */
  async disable(row: StoredWebhook, reason: DisabledReason): Promise<void> {
    const { tenant, objects, log } = this.#ports;
    const key = { kind: "webhook", accountId: tenant.accountId, id: this.#id } as const;
    const now = this.#ports.now();
    const [changed] = await tenant.db.run([disableSubscriber(key, row.updatedAt, reason, now)]);
    await announceChange({ accountId: tenant.accountId, eventLogs: objects.eventLogs, log });
    const updatedAt = Math.max(now, row.updatedAt + 1);
    if (changed.length > 0) await this.notifyOfDisabled({ ...row, disabledReason: reason, updatedAt });
  }

  /** Notifies the owners that the service has disabled the webhook, again where a crash or failure came between. */
  async notifyOfDisabled(row: WebhookRow): Promise<void> {
    const { disabledReason, updatedAt } = row;
    if (disabledReason === null || updatedAt === this.#notifiedOf) return;
    const now = this.#ports.now();
    if (now - updatedAt < NOTICE_MS) await this.#notifyOwners(disabledNotice(row, disabledReason, now));
    this.#notifiedOf = updatedAt;
  }

  /** Marks the webhook, and notifies the organization's owners by mail, and its other webhooks that listen to that. */
  async reportBacklog(report: BacklogReport | null): Promise<void> {
    const { tenant, objects } = this.#ports;
    const since = report === null ? null : (report.oldestAt ?? report.now);
    const [[row]] = await tenant.db.run([markBacklogged(tenant, this.#id, since)]);
    if (report === null || row === undefined) return;
    if (row.disabledReason === null) await this.#notifyOwners(backlogNotice(row, report));
    else await this.notifyOfDisabled(row);
    await fanOutAbout(this.#id, tenant, objects, {
      id: report.eventId,
      event: "webhook.backlogged",
      occurredAt: report.now,
      body: presentBacklogged(presentWebhook(row), report),
    });
  }

  #notifyOwners(notice: Notice): Promise<void> {
    const { env, tenant, log } = this.#ports;
    return notifyOwners(env, tenant.accountId, notice, log);
  }
}
