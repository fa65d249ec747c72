/** The Durable Object of one subscriber: a durable queue of the events that it is to be given, and what became of them. */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../config.ts";
import { WebhookCourier } from "../../webhooks/webhook-handler.ts";
import { presentExecution, type WorkflowExecution } from "../../workflows/schema.ts";
import { WorkflowCourier } from "../../workflows/workflow-handler.ts";
import type { Courier, CourierMemory } from "../handler.ts";
import type { Delivery, Envelope, SubscriberKey } from "../subscriber-port.ts";
import { Queue } from "./delivery-queue.ts";
import { presentDelivery } from "./delivery-table.ts";

export class SubscriberObject extends DurableObject<Env> {
  /** Epoch milliseconds; tests put their own clock here. */
  clock: () => number = () => Date.now();

  readonly #queue: Queue;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#queue = new Queue(
      ctx,
      (key, memory) => this.#hire(key, memory),
      () => this.clock(),
    );
  }

  #hire(key: SubscriberKey, memory: CourierMemory): Courier {
    const now = () => this.clock();
    return key.kind === "webhook"
      ? new WebhookCourier(this.env, key, now, memory)
      : new WorkflowCourier(this.env, key, now, memory);
  }

  /** Takes each event once, by its id. When this returns they are on disk. */
  take(key: SubscriberKey, envelopes: readonly Envelope[], version: number): void {
    this.#queue.take(key, envelopes, version);
  }

  expect(version: number): void {
    this.#queue.expect(version);
  }

  /** The subscriber was deleted: nothing of it stays, the alarm included. */
  forget(): Promise<void> {
    return this.#queue.forget();
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
    const { rows, total } = this.#queue.records.list(status ?? "any", limit, offset);
    return { deliveries: rows.map(presentDelivery), total };
  }

  /** Queues the event of an earlier delivery once more, in nobody's way; null when that one is not kept. */
  redeliver(key: SubscriberKey, deliveryId: string): Delivery | null {
    const envelope = this.#queue.records.findEnvelope(deliveryId);
    return envelope && presentDelivery(this.#queue.ask(key, envelope).row);
  }

  /** Sends an event in nobody's way, and waits until the first attempt is over. */
  async send(key: SubscriberKey, envelope: Envelope): Promise<Delivery> {
    const { row, attempted } = this.#queue.ask(key, envelope);
    return presentDelivery((await attempted) ?? row);
  }

  /** Those that are over. */
  listExecutions(limit: number, offset: number): { executions: WorkflowExecution[]; total: number } {
    const { rows, total } = this.#queue.records.list("over", limit, offset);
    return { executions: rows.map(presentExecution), total };
  }

  /** Runs the workflow in nobody's way, once by the event's id, and waits for the end; null when nothing was run. */
  async run(key: SubscriberKey, envelope: Envelope): Promise<WorkflowExecution | null> {
    const row = await this.#queue.askOnce(key, envelope).attempted;
    return row && presentExecution(row);
  }
}
