/** The Durable Object of one subscriber: a durable queue of events, and the record of their deliveries. */
import { DurableObject } from "cloudflare:workers";
import { backlogLimits, type Env } from "../../config.ts";
import { eventLogGateway } from "../../event-log/shards/event-log-gateway.ts";
import { WebhookHandler } from "../../webhooks/webhook-handler.ts";
import { WorkflowHandler } from "../../workflows/workflow-handler.ts";
import type { StatsRange, SubscriberStats } from "../port/delivery-stats.ts";
import type { ReplayRecord, ReplayRequest } from "../port/replay.ts";
import type {
  DeliveryPage,
  DeliveryRecord,
  OutgoingEvent,
  StatusFilter,
  SubscriberKey,
} from "../port/subscriber-port.ts";
import type { SubscriberRpc } from "../port/subscriber-rpc.ts";
import { DeliveryQueue } from "./delivery-queue.ts";

/** Its methods are what {@link SubscriberGateway} describes. Reading creates nothing in storage. */
export class SubscriberObject extends DurableObject<Env> implements SubscriberRpc {
  /** Epoch milliseconds; tests replace it by their own clock. */
  clock: () => number = () => Date.now();

  readonly #queue: DeliveryQueue;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const now = () => this.clock();
    this.#queue = new DeliveryQueue(
      ctx,
      (key, state) =>
        key.kind === "webhook"
          ? new WebhookHandler(env, key, now, state)
          : new WorkflowHandler(env, key, now, state),
      now,
      backlogLimits(env),
      eventLogGateway(env).read,
    );
  }

  override alarm(): void {
    this.#queue.wake();
  }

  enqueue(key: SubscriberKey, events: readonly OutgoingEvent[], version: number): void {
    this.#queue.enqueue(key, events, version);
  }

  notifyOfChange(version: number): void {
    this.#queue.notifyOfChange(version);
  }

  remove(): Promise<void> {
    return this.#queue.clear();
  }

  list(filter: StatusFilter, limit: number, offset: number): DeliveryPage {
    return this.#queue.history.list(filter, limit, offset);
  }

  startReplay(key: SubscriberKey, request: ReplayRequest): ReplayRecord | null {
    return this.#queue.startReplay(key, request);
  }

  stats(range: StatsRange): SubscriberStats {
    return this.#queue.stats(range);
  }

  findReplay(): ReplayRecord | null {
    return this.#queue.findReplay();
  }

  redeliver(key: SubscriberKey, deliveryId: string): DeliveryRecord | null {
    const earlier = this.#queue.history.findById(deliveryId);
    return earlier && this.#queue.manual.enqueue(key, earlier).delivery;
  }

  deliverNow(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    return this.#queue.manual.enqueue(key, event).attempted;
  }

  deliverNowOnce(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null> {
    return this.#queue.manual.enqueueOnce(key, event).attempted;
  }
}
