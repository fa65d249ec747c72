/** Maintenance of a subscriber: retention, backlog, schedule and replays. */
import type { DeliveryHandler } from "../port/handler.ts";
import type { ReplayRecord, ReplayRequest } from "../port/replay.ts";
import type { SubscriberKey } from "../port/subscriber.ts";
import { BacklogGuard } from "./backlog-guard.ts";
import { DeliveryRetention } from "./delivery-retention.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { Replay } from "./replay.ts";
import type { SubscriberPorts } from "./subscriber-ports.ts";
import { TimedDeliveries } from "./timed-deliveries.ts";

interface MaintenancePorts extends Pick<SubscriberPorts, "limits" | "readLog" | "reportWaiting"> {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `work` beside the requests, then plans the alarm; reports `failure` when it rejects. */
  inBackground(work: Promise<void>, failure: string): void;
  /** Something new waits for its attempt. */
  onEnqueued(): void;
  /** The subscriber's row is gone. */
  onOrphaned(): Promise<void>;
}

export class SubscriberMaintenance {
  readonly #ports: MaintenancePorts;
  readonly #store: DeliveryStore;
  readonly #retention: DeliveryRetention;
  readonly #backlog: BacklogGuard;
  readonly #replay: Replay;
  readonly #timed: TimedDeliveries;

  constructor(store: DeliveryStore, ports: MaintenancePorts) {
    this.#ports = ports;
    this.#store = store;
    this.#retention = new DeliveryRetention(store);
    this.#backlog = new BacklogGuard(store, ports.limits, ports);
    this.#timed = new TimedDeliveries(store);
    this.#replay = new Replay(store, {
      now: () => ports.now(),
      newId: () => crypto.randomUUID(),
      readLog: async (shard, query) => ports.readLog(store.readKey()?.accountId ?? "", shard, query),
    });
  }

  /** True while something waits only to be ended: no attempt is to start meanwhile. */
  get isEnding(): boolean {
    return this.#retention.isEnding;
  }

  /** When the alarm is to continue a replay, or to enqueue by the clock (epoch ms); null for never. */
  enqueuingDueAt(): (number | null)[] {
    return [this.#replay.dueAt(), this.#timed.dueAt()];
  }

  /** When the alarm is to do the rest, which can wait until no attempt is in flight. */
  dueAt(now: number): (number | null)[] {
    return [this.#retention.dueAt(now), ...this.#backlog.dueAt(now)];
  }

  /** Deletes some of what is no longer kept. */
  prune(): void {
    this.#retention.prune(this.#ports.now());
  }

  /** Does a slice of what is to be ended or deleted. */
  clean(): void {
    this.#store.transaction(() => {
      this.#retention.endSome();
      this.prune();
    });
  }

  /** Reports what waits for the subscriber, and warns or suspends it when that is too much. */
  checkBacklog(handler: DeliveryHandler): void {
    const check = this.#backlog.check(handler, this.#ports.now());
    this.#ports.inBackground(check, "That much waits for a subscriber could not be acted on yet");
  }

  /** The subscriber may have been enabled again: it gets time to work off what waits. */
  forgiveBacklog(): void {
    this.#backlog.forgive(this.#ports.now());
  }

  /** A request has disabled the subscriber: what was enqueued up to this number ends, with the error if there is one. */
  endWaiting(lastSeq: number, error: string | null): void {
    this.#retention.endWaiting(lastSeq, error);
    this.#replay.end(error ?? "It was disabled");
  }

  /** A change of what is delivered by the clock is about to be committed. */
  expectChange(key: SubscriberKey): void {
    this.#store.transaction(() => {
      this.#store.open(key);
      this.#timed.expectChange(this.#ports.now());
    });
  }

  /** The subscriber's row was changed. */
  changed(handler: DeliveryHandler): void {
    this.#timed.changed(this.#ports.now());
    this.continueTimed(handler);
  }

  /** Enqueues what is due by the clock. */
  continueTimed({ timetable }: DeliveryHandler): void {
    if (timetable === undefined || this.#timed.dueAt() === null) return;
    const step = async (): Promise<void> => {
      const result = await this.#timed.step(timetable, this.#ports.now());
      if (result === "orphaned") await this.#ports.onOrphaned();
      if (result === "enqueued") this.#ports.onEnqueued();
    };
    this.#ports.inBackground(step(), "The schedule of a subscriber could not be read yet");
  }

  /** Starts to send a span of events again; null while another replay is running. */
  startReplay(key: SubscriberKey, request: ReplayRequest): ReplayRecord | null {
    const replay = this.#store.transaction(() => {
      this.#store.open(key);
      return this.#replay.start(request);
    });
    this.continueReplay();
    return replay;
  }

  /** The latest replay; null when there was none. */
  findReplay(): ReplayRecord | null {
    return this.#replay.find();
  }

  continueReplay(): void {
    if (this.isEnding) return;
    const step = async (): Promise<void> => {
      if (await this.#replay.step()) this.#ports.onEnqueued();
    };
    this.#ports.inBackground(step(), "Events could not be read from the log to send them again yet");
  }
}
