/** The RPC interface of the objects behind the port. It is the one file of the port that knows the Workers runtime. */
import type { ArchiveRpc } from "../../platform/archive/object-archive.ts";
import type {
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  FoundDelivery,
  OutgoingEvent,
  StatusFilter,
} from "./delivery-record.ts";
import type { StatsRange, SubscriberStats } from "./delivery-stats.ts";
import type { ReplayRecord, ReplayRequest } from "./replay.ts";
import type { SubscriberKey } from "./subscriber-port.ts";
import type { AttemptResult, Destination, WebhookMessage } from "./webhook-request.ts";

/** The RPC methods of a subscriber's object, which do what `SubscriberGateway` describes. */
export interface SubscriberRpc extends Rpc.DurableObjectBranded, ArchiveRpc {
  enqueue(key: SubscriberKey, events: readonly OutgoingEvent[], version: number): void;
  enqueueApart(key: SubscriberKey, event: OutgoingEvent, version: number): void;
  expectChange(key: SubscriberKey): void;
  notifyOfChange(version: number): void;
  remove(): Promise<void>;
  send(destination: Destination, message: WebhookMessage): Promise<AttemptResult>;
  list(filter: StatusFilter, query: DeliveryQuery): DeliveryPage;
  find(deliveryId: string): FoundDelivery | null;
  startReplay(key: SubscriberKey, request: ReplayRequest): ReplayRecord | null;
  stats(range: StatsRange): SubscriberStats;
  findReplay(): ReplayRecord | null;
  redeliverSome(key: SubscriberKey, deliveryIds: readonly string[]): string[];
  redeliver(key: SubscriberKey, deliveryId: string): DeliveryRecord | null;
  deliverNow(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null>;
  deliverNowOnce(key: SubscriberKey, event: OutgoingEvent): Promise<DeliveryRecord | null>;
}
