/** `AtriumServer.webhooks`: the endpoints that receive events, and their deliveries. */
import type { Rest } from "../core/rest.ts";
import type { ReplayInput, WebhookInput, WebhookUpdateInput } from "../wire/requests.ts";
import type { Delivery, DeliveryStats, Replay, Webhook, WebhookWithSecret } from "../wire/resources.ts";
import {
  eachOf,
  type Filter,
  type PageShown,
  type Scroll,
  type ScrollShown,
  type WebhookSearch,
} from "./pages.ts";

/** Filters a list of deliveries. */
export interface DeliverySearch extends Scroll {
  readonly status?: Delivery["status"];
  readonly event?: Delivery["event"];
  readonly roomId?: string;
}

export class Webhooks {
  readonly #rest: Rest;

  constructor(rest: Rest) {
    this.#rest = rest;
  }

  /** Creates a webhook, for all rooms unless `roomId` is given. Store the `secret`: it is shown only once. */
  async create(webhook: WebhookInput): Promise<WebhookWithSecret> {
    const request = { method: "POST", path: ["webhooks"], body: webhook } as const;
    return (await this.#rest.request<{ webhook: WebhookWithSecret }>(request)).webhook;
  }

  /** Newest first, or in the order of `sort`. */
  list(search: WebhookSearch = {}): Promise<{ readonly webhooks: Webhook[] } & PageShown> {
    return this.#rest.request({ method: "GET", path: ["webhooks"], query: { ...search } });
  }

  async get(webhookId: string): Promise<Webhook> {
    const request = { method: "GET", path: ["webhooks", webhookId] } as const;
    return (await this.#rest.request<{ webhook: Webhook }>(request)).webhook;
  }

  /** Changes the given fields. */
  async update(webhookId: string, changes: WebhookUpdateInput): Promise<Webhook> {
    const request = { method: "PATCH", path: ["webhooks", webhookId], body: changes } as const;
    return (await this.#rest.request<{ webhook: Webhook }>(request)).webhook;
  }

  /** Deletes the webhook with its deliveries, including the pending ones. */
  async delete(webhookId: string): Promise<void> {
    await this.#rest.request({ method: "DELETE", path: ["webhooks", webhookId] });
  }

  /** Replaces the secret. For 24 hours, messages are also signed with the old one. */
  async rotateSecret(webhookId: string): Promise<WebhookWithSecret> {
    const request = { method: "POST", path: ["webhooks", webhookId, "rotate-secret"] } as const;
    return (await this.#rest.request<{ webhook: WebhookWithSecret }>(request)).webhook;
  }

  /** Sends an example event, and returns its delivery after the first attempt. */
  async test(webhookId: string): Promise<Delivery> {
    const request = { method: "POST", path: ["webhooks", webhookId, "test"] } as const;
    return (await this.#rest.request<{ delivery: Delivery }>(request)).delivery;
  }

  /** Newest first: the deliveries of the last 7 days, up to 1 GiB of them; of an event or a room among the latest 10,000. */
  listDeliveries(
    webhookId: string,
    filter: DeliverySearch = {},
  ): Promise<{ readonly deliveries: Delivery[] } & ScrollShown> {
    const path = ["webhooks", webhookId, "deliveries"];
    return this.#rest.request({ method: "GET", path, query: { ...filter } });
  }

  /** All of them, newest first: `for await (const delivery of atrium.webhooks.eachDelivery(id))`. Reads 100 at a time. */
  eachDelivery(webhookId: string, filter: Filter<DeliverySearch> = {}): AsyncGenerator<Delivery, void, void> {
    return eachOf(async (part) => {
      const { deliveries, cursor } = await this.listDeliveries(webhookId, { ...filter, ...part });
      return { items: deliveries, cursor };
    });
  }

  /** Sends the event of a delivery again, with the same event id, as a new delivery. */
  async redeliver(webhookId: string, deliveryId: string): Promise<Delivery> {
    const path = ["webhooks", webhookId, "deliveries", deliveryId, "redeliver"];
    return (await this.#rest.request<{ delivery: Delivery }>({ method: "POST", path })).delivery;
  }

  /** The same of up to 100 deliveries, in no particular order. `missing` are the ids of those that are not kept. */
  redeliverAll(
    webhookId: string,
    deliveryIds: readonly string[],
  ): Promise<{ readonly redelivered: number; readonly missing: string[] }> {
    const path = ["webhooks", webhookId, "redeliver"];
    return this.#rest.request({ method: "POST", path, body: { ids: deliveryIds } });
  }

  /**
   * Sends the events of a time again that the webhook listens to: all of the event log, or with `status` those whose
   * kept deliveries have it. Throws `CONFLICT` while another replay of the webhook is running.
   */
  async replay(webhookId: string, span: ReplayInput): Promise<Replay> {
    const request = { method: "POST", path: ["webhooks", webhookId, "replay"], body: span } as const;
    return (await this.#rest.request<{ replay: Replay }>(request)).replay;
  }

  /** The webhook's latest replay, and how far it is; null when there was none. */
  async getReplay(webhookId: string): Promise<Replay | null> {
    const request = { method: "GET", path: ["webhooks", webhookId, "replay"] } as const;
    return (await this.#rest.request<{ replay: Replay | null }>(request)).replay;
  }

  /** Success rate, latency and what waits: of the last hour, 24 hours (the default), 7 days or 30 days. */
  async stats(webhookId: string, range?: DeliveryStats["range"]): Promise<DeliveryStats> {
    const path = ["webhooks", webhookId, "stats"];
    const request = { method: "GET", path, query: { range } } as const;
    return (await this.#rest.request<{ stats: DeliveryStats }>(request)).stats;
  }
}
