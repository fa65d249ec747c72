/** The Durable Object of one subscriber: a durable queue of the events that it is to be given, and what became of them. */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../config.ts";
import { WebhookHandler } from "../../webhooks/webhook-handler.ts";
import { presentExecution, type WorkflowExecution } from "../../workflows/schema.ts";
import { WorkflowHandler } from "../../workflows/workflow-handler.ts";
import type { DeliveryHandler, HandlerState } from "../handler.ts";
import type { Delivery, OutgoingEvent, SubscriberKey } from "../subscriber-port.ts";
import { DeliveryQueue } from "./delivery-queue.ts";
import { presentDelivery } from "./delivery-table.ts";

export class SubscriberObject extends DurableObject<Env> {
  /** Epoch milliseconds; tests put their own clock here. */
  clock: () => number = () => Date.now();

  readonly #queue: DeliveryQueue;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#queue = new DeliveryQueue(
      ctx,
      (key, memory) => this.#createHandler(key, memory),
      () => this.clock(),
    );
  }

  #createHandler(key: SubscriberKey, memory: HandlerState): DeliveryHandler {
    const now = () => this.clock();
    return key.kind === "webhook"
      ? new WebhookHandler(this.env, key, now, memory)
      : new WorkflowHandler(this.env, key, now, memory);
  }

  /** Takes each event once, by its id. When this returns they are on disk. */
  enqueue(key: SubscriberKey, events: readonly OutgoingEvent[], version: number): void {
    this.#queue.enqueue(key, events, version);
  }

  requireVersion(version: number): void {
    this.#queue.requireVersion(version);
  }

  /** The subscriber was deleted: nothing of it stays, the alarm included. */
  remove(): Promise<void> {
    return this.#queue.clear();
  }

  override alarm(): void {
    this.#queue.wake();
  }

  /** Reading creates nothing: a subscriber that was never given anything has an empty list. */
  listDeliveries(
    status: Delivery["status"] | undefined,
    limit: number,
    offset: number,
  ): { deliveries: Delivery[]; total: number } {
    const { rows, total } = this.#queue.history.list(status ?? "any", limit, offset);
    return { deliveries: rows.map(presentDelivery), total };
  }

  /** Queues the event of an earlier delivery once more, in nobody's way; null when that one is not kept. */
  redeliver(key: SubscriberKey, deliveryId: string): Delivery | null {
    const envelope = this.#queue.history.findEnvelope(deliveryId);
    return envelope && presentDelivery(this.#queue.enqueueManual(key, envelope).row);
  }

  /** Sends an event in nobody's way, and waits until the first attempt is over. */
  async send(key: SubscriberKey, envelope: OutgoingEvent): Promise<Delivery> {
    const { row, attempted } = this.#queue.enqueueManual(key, envelope);
    return presentDelivery((await attempted) ?? row);
  }

  /** Those that are over. */
  listExecutions(limit: number, offset: number): { executions: WorkflowExecution[]; total: number } {
    const { rows, total } = this.#queue.history.list("over", limit, offset);
    return { executions: rows.map(presentExecution), total };
  }

  /** Runs the workflow in nobody's way, once by the event's id, and waits for the end; null when nothing was run. */
  async run(key: SubscriberKey, envelope: OutgoingEvent): Promise<WorkflowExecution | null> {
    const row = await this.#queue.enqueueManualOnce(key, envelope).attempted;
    return row && presentExecution(row);
  }
}
