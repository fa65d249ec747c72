/** Webhooks for back ends: where the service is to tell what happens, and how that went. */

import type { Rest } from "../core/rest.ts";
import type { EventName } from "../wire/events.ts";
import type { Page, PageShown } from "./index.ts";

/** An address that is told of events. */
export interface Webhook {
  readonly id: string;
  readonly organization_id: string;
  readonly url: string;
  readonly events: EventName[];
  /** Null for all rooms. */
  readonly room_id: string | null;
  /** False when it was switched off, by you or after five days of failures or an answer of 410. */
  readonly enabled: boolean;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A webhook with what `verifyWebhook` needs: shown when it is made, and never again. */
export interface WebhookWithSecret extends Webhook {
  readonly secret: string;
}

/** One try of a delivery. */
export interface DeliveryAttempt {
  readonly attempted_at: string;
  readonly duration_ms: number;
  readonly status_code: number | null;
  /** `target`, `dns`, `connect`, `tls`, `timeout`, `redirect`, `status` or `body`; null when it arrived. */
  readonly error_class: string | null;
  readonly error: string | null;
  /** The first 4 KiB of what was answered. */
  readonly answer: string | null;
}

/** An event's way to a webhook. */
export interface Delivery {
  readonly id: string;
  readonly webhook_id: string;
  readonly event: EventName;
  /** What is posted: an `AtriumEvent` as JSON. */
  readonly payload: string;
  readonly status: "pending" | "success" | "failed";
  readonly attempts: number;
  readonly last_attempt_at: string | null;
  readonly next_retry_at: string | null;
  /** Of the latest attempt, as `error` is. */
  readonly status_code: number | null;
  readonly error: string | null;
  readonly created_at: string;
  /** The first attempt first. */
  readonly log: DeliveryAttempt[];
}

export class Webhooks {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** Keep the `secret`: nothing shows it again. Without `roomId` it is told of all rooms. */
  async create(webhook: {
    readonly url: string;
    readonly events: readonly EventName[];
    readonly roomId?: string | null;
    readonly enabled?: boolean;
  }): Promise<WebhookWithSecret> {
    const request = { method: "POST", path: ["webhooks"], body: webhook } as const;
    return (await this.#rest.ask<{ webhook: WebhookWithSecret }>(request)).webhook;
  }

  /** Newest first; `search` is for text in the address. */
  list(
    search: Page & { readonly search?: string } = {},
  ): Promise<{ readonly webhooks: Webhook[] } & PageShown> {
    return this.#rest.ask({ method: "GET", path: ["webhooks"], query: { ...search } });
  }

  async get(webhookId: string): Promise<Webhook> {
    const request = { method: "GET", path: ["webhooks", webhookId] } as const;
    return (await this.#rest.ask<{ webhook: Webhook }>(request)).webhook;
  }

  async update(
    webhookId: string,
    changes: {
      readonly url?: string;
      readonly events?: readonly EventName[];
      readonly roomId?: string | null;
      readonly enabled?: boolean;
    },
  ): Promise<Webhook> {
    const request = { method: "PATCH", path: ["webhooks", webhookId], body: changes } as const;
    return (await this.#rest.ask<{ webhook: Webhook }>(request)).webhook;
  }

  /** With all that was to be delivered to it. */
  async delete(webhookId: string): Promise<void> {
    await this.#rest.ask({ method: "DELETE", path: ["webhooks", webhookId] });
  }

  /** Gives it a new `secret`; messages are signed with the old one too for 24 hours more. */
  async rotateSecret(webhookId: string): Promise<WebhookWithSecret> {
    const request = { method: "POST", path: ["webhooks", webhookId, "rotate-secret"] } as const;
    return (await this.#rest.ask<{ webhook: WebhookWithSecret }>(request)).webhook;
  }

  /** Sends a made-up event, and tells how the first attempt went. */
  async test(webhookId: string): Promise<Delivery> {
    const request = { method: "POST", path: ["webhooks", webhookId, "test"] } as const;
    return (await this.#rest.ask<{ delivery: Delivery }>(request)).delivery;
  }

  /** Newest first: the latest 1,000, for 7 days. */
  listDeliveries(
    webhookId: string,
    filter: Page & { readonly status?: Delivery["status"] } = {},
  ): Promise<{ readonly deliveries: Delivery[] } & PageShown> {
    return this.#rest.ask({
      method: "GET",
      path: ["webhooks", webhookId, "deliveries"],
      query: { ...filter },
    });
  }

  /** Sends the event of a delivery once more, under the same id, as a new delivery. */
  async redeliver(webhookId: string, deliveryId: string): Promise<Delivery> {
    const path = ["webhooks", webhookId, "deliveries", deliveryId, "redeliver"];
    return (await this.#rest.ask<{ delivery: Delivery }>({ method: "POST", path })).delivery;
  }
}
