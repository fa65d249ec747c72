/** The setup of the events bench: an organization, its webhooks, and one receiver for all of them. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { EventName } from "@atrium/contract/resources/events.ts";
import { CommandError } from "../../../../src/cli/process/command.ts";
import type { SubscriberKey } from "../../../../src/delivery/outbox/subscription.ts";
import { Organization } from "../organization.ts";
import type { Database } from "../serve.ts";

const ARRIVAL_LIMIT_MS = 60_000;

/** An event that a webhook received. */
export interface Arrival {
  /** The last segment of the webhook's URL. */
  readonly webhook: string;
  readonly userId: string;
  /** Arrival by `performance.now()`. */
  readonly at: number;
}

/** The Worker with queues to fill directly. */
interface Queues {
  readonly origin: string;
  /** The process ID of workerd. */
  readonly pid: number;
}

/** A webhook of the stage. */
interface Listener {
  readonly key: SubscriberKey;
  readonly url: string;
  /** Deletes it. */
  end(): Promise<void>;
}

export class Stage {
  readonly origin: string;
  readonly queues: Queues;
  readonly organization: Organization;
  readonly #server: Server;
  /** The arrivals since the last {@link expectArrivals}. */
  #arrivals: Arrival[] = [];
  #expected = Number.POSITIVE_INFINITY;
  #onComplete: () => void = () => undefined;

  private constructor(origin: string, organization: Organization, queues: Queues) {
    this.origin = origin;
    this.queues = queues;
    this.organization = organization;
    this.#server = createServer(async (request, response) => {
      const at = performance.now();
      const webhook = (request.url ?? "").slice(1);
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      if (webhook.startsWith("hang")) return; // never answers
      const latencyMs = Number(/^late-(\d+)/.exec(webhook)?.[1] ?? 0);
      if (latencyMs === 0) response.end();
      else setTimeout(() => response.end(), latencyMs);
      const { data } = JSON.parse(body) as { data: { userId?: string } };
      this.#arrivals.push({ webhook, userId: data.userId ?? "", at });
      if (this.#arrivals.length >= this.#expected) this.#onComplete();
    });
  }

  static async create(db: Database, origin: string, queues: Queues): Promise<Stage> {
    const stage = new Stage(origin, await Organization.create(db, origin), queues);
    await new Promise<void>((resolve) => stage.#server.listen(0, "127.0.0.1", resolve));
    return stage;
  }

  /** Creates a webhook whose URL ends in `name`; returns a function that deletes it. */
  async listen(name: string, events: readonly EventName[], roomId?: string): Promise<() => Promise<void>> {
    return (await this.listenAt(name, events, roomId)).end;
  }

  /** Creates a webhook whose URL ends in `name`. A receiver at `late-MS…` answers late, one at `hang…` never. */
  async listenAt(name: string, events: readonly EventName[], roomId?: string): Promise<Listener> {
    const { port } = this.#server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/${name}`;
    const webhooks = `${this.origin}/v1/accounts/${this.organization.accountId}/webhooks`;
    const response = await fetch(webhooks, {
      method: "POST",
      headers: { ...this.organization.headers, "Content-Type": "application/json" },
      body: JSON.stringify({ url, events, ...(roomId && { roomId }) }),
    });
    const answer = (await response.json()) as { data: { webhook: { id: string } }; description: string };
    if (response.status !== 201) throw new CommandError(`A webhook was refused: ${answer.description}`);
    const { id } = answer.data.webhook;
    const end = async (): Promise<void> => {
      const { headers } = this.organization;
      await fetch(`${webhooks}/${id}`, { method: "DELETE", headers });
    };
    return { key: { kind: "webhook", accountId: this.organization.accountId, id }, url, end };
  }

  /** Resolves with the arrivals from now on, once there are this many. */
  async expectArrivals(count: number, stop: AbortSignal): Promise<Arrival[]> {
    this.#arrivals = [];
    this.#expected = count;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#onComplete = resolve;
    const limit = AbortSignal.any([stop, AbortSignal.timeout(ARRIVAL_LIMIT_MS)]);
    limit.addEventListener("abort", () => reject(new CommandError("Not all events came in time")), {
      once: true,
    });
    await promise;
    return this.#arrivals;
  }

  async dispose(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
