/** A webhook with a real receiver that records its requests. */

import { Event, EventName, type WebhookEventName } from "@atrium/contract/resources/events.ts";
import type { Delivery } from "@atrium/contract/rest/webhook-deliveries.ts";
import type { WebhookWithSecret } from "@atrium/contract/rest/webhooks.ts";
import { expect, inject } from "vitest";
import type { Api } from "../support/api.ts";
import type { Received } from "../support/receiver.ts";

const { port } = inject("receiver");

interface Options {
  readonly events?: readonly WebhookEventName[];
  readonly roomId?: string;
  /** An agent, whose mentions are the events. */
  readonly identityId?: string;
  /** How the receiver responds: the start of its path, such as `status/410`. */
  readonly behaviour?: string;
}

const OF_PEOPLE = EventName.options.filter((name) => !/^(file|room|store)\./.test(name));

export class RecordingSubscriber {
  readonly webhook: WebhookWithSecret;
  readonly #api: Api;
  readonly #name: string;

  private constructor(api: Api, webhook: WebhookWithSecret, name: string) {
    this.#api = api;
    this.webhook = webhook;
    this.#name = name;
  }

  /** Creates a webhook, by default for every event of the sessions, users and comments of every room. */
  static async create(api: Api, options: Options = {}) {
    const { roomId, identityId, behaviour = "ok" } = options;
    const { events = identityId === undefined ? OF_PEOPLE : ["agent.mentioned"] } = options;
    const name = crypto.randomUUID();
    const url = `http://127.0.0.1:${port}/${behaviour}/${name}`;
    const answer = await api.post<{ webhook: WebhookWithSecret }>("/webhooks", {
      url,
      events,
      ...(roomId && { roomId }),
      ...(identityId && { identityId }),
    });
    expect(answer).toMatchObject({ status: 201 });
    return new RecordingSubscriber(api, answer.data.webhook, name);
  }

  async received(): Promise<readonly Received[]> {
    return (await fetch(`http://127.0.0.1:${port}/received/${this.#name}`)).json();
  }

  /** The events that the receiver was sent so far, checked against their schema. */
  async events(): Promise<Event[]> {
    return (await this.received()).map(({ body }) => Event.parse(JSON.parse(body)));
  }

  /** Waits until the receiver was sent this many events, and returns them. */
  async receivedEvents(count: number): Promise<Event[]> {
    await expect.poll(async () => (await this.received()).length).toBe(count);
    return this.events();
  }

  async deliveries(query = ""): Promise<Delivery[]> {
    const path = `/webhooks/${this.webhook.id}/deliveries${query}`;
    return (await this.#api.get<{ deliveries: Delivery[] }>(path)).data.deliveries;
  }

  /** Waits until this many deliveries are finished, and returns them, newest first. */
  async settled(count: number): Promise<Delivery[]> {
    const over = async () => (await this.deliveries()).filter(({ status }) => status !== "pending");
    await expect.poll(async () => (await over()).length).toBe(count);
    return over();
  }
}
