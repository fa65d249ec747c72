/** `AtriumServer.webhooks`: the endpoints that receive events, and their deliveries. */
import type { ReplayInput, WebhookInput, WebhookUpdateInput } from "../wire/requests.ts";
import type { Delivery, DeliveryStats, Replay, Webhook, WebhookWithSecret } from "../wire/resources.ts";
import {
  eachOf,
  type Filter,
  type PageShown,
  Resource,
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

export class Webhooks extends Resource {
  /** Creates a webhook, for all rooms unless `roomId` is given. Store the `secret`: it is shown only once. */
  async create(webhook: WebhookInput): Promise<WebhookWithSecret> {
    return (await this.rest.post<{ webhook: WebhookWithSecret }>(["webhooks"], webhook)).webhook;
  }

  /** Newest first, or in the order of `sort`. */
  list(search: WebhookSearch = {}): Promise<{ readonly webhooks: Webhook[] } & PageShown> {
    return this.rest.get(["webhooks"], search);
  }

  async get(webhookId: string): Promise<Webhook> {
    return (await this.rest.get<{ webhook: Webhook }>(["webhooks", webhookId])).webhook;
  }

  /** Changes the given fields. */
  async update(webhookId: string, changes: WebhookUpdateInput): Promise<Webhook> {
    return (await this.rest.patch<{ webhook: Webhook }>(["webhooks", webhookId], changes)).webhook;
  }

  /** Deletes the webhook with its deliveries, including the pending ones. */
  delete(webhookId: string): Promise<void> {
    return this.rest.delete(["webhooks", webhookId]);
  }

  /** Replaces the secret. For 24 hours, messages are also signed with the old one. */
  async rotateSecret(webhookId: string): Promise<WebhookWithSecret> {
    return (await this.rest.post<{ webhook: WebhookWithSecret }>(["webhooks", webhookId, "rotate-secret"]))
      .webhook;
  }

  /** Sends an example event, and returns its delivery after the first attempt. */
  async test(webhookId: string): Promise<Delivery> {
    return (await this.rest.post<{ delivery: Delivery }>(["webhooks", webhookId, "test"])).delivery;
  }

  /** Newest first: the deliveries of the last 7 days, up to 1 GiB of them; of an event or a room among the latest 10,000. */
  listDeliveries(
    webhookId: string,
    filter: DeliverySearch = {},
  ): Promise<{ readonly deliveries: Delivery[] } & ScrollShown> {
    return this.rest.get(["webhooks", webhookId, "deliveries"], filter);
  }

  /** All of them, newest first: `for await (const delivery of atrium.webhooks.eachDelivery(id))`. Reads 100 at a time. */
  eachDelivery(webhookId: string, filter: Filter<DeliverySearch> = {}): AsyncGenerator<Delivery, void, void> {
    return eachOf(
      (part) => this.listDeliveries(webhookId, { ...filter, ...part }),
      ({ deliveries }) => deliveries,
    );
  }

  /** Sends the event of a delivery again, with the same event id, as a new delivery. */
  async redeliver(webhookId: string, deliveryId: string): Promise<Delivery> {
    const path = ["webhooks", webhookId, "deliveries", deliveryId, "redeliver"];
    return (await this.rest.post<{ delivery: Delivery }>(path)).delivery;
  }

  /** The same of up to 100 deliveries, in no particular order. `missing` has the ids of deliveries that are not kept. */
  redeliverAll(
    webhookId: string,
    deliveryIds: readonly string[],
  ): Promise<{ readonly redelivered: number; readonly missing: string[] }> {
    return this.rest.post(["webhooks", webhookId, "redeliver"], { ids: deliveryIds });
  }

  /**
   * Sends the events of a time again that the webhook listens to: all of the event log, or with `status` those whose
   * kept deliveries have it. Throws `CONFLICT` while another replay of the webhook is running.
   */
  async replay(webhookId: string, span: ReplayInput): Promise<Replay> {
    return (await this.rest.post<{ replay: Replay }>(["webhooks", webhookId, "replay"], span)).replay;
  }

  /** The webhook's latest replay, and how far it is; null when there was none. */
  async getReplay(webhookId: string): Promise<Replay | null> {
    return (await this.rest.get<{ replay: Replay | null }>(["webhooks", webhookId, "replay"])).replay;
  }

  /** Success rate, latency and backlog: of the last hour, 24 hours (the default), 7 days or 30 days. */
  async stats(webhookId: string, range?: DeliveryStats["range"]): Promise<DeliveryStats> {
    return (await this.rest.get<{ stats: DeliveryStats }>(["webhooks", webhookId, "stats"], { range })).stats;
  }
}
