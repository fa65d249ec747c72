/** Carries out the room's effects, each by itself: one that fails costs its own socket, and none of the others. */

import type { Room } from "../engine/room.ts";
import { deliveryPoints } from "../protocol/costs.ts";
import type { Effect } from "../transport/connection.ts";
import { FlushTimer, TickPolicy } from "../transport/flush.ts";
import type { Sockets } from "../transport/sockets.ts";
import type { DatabaseReads } from "./database-reads.ts";
import type { JoinAuthorizer } from "./join-authorizer.ts";
import type { CurrentTrace, RoomContext } from "./room-context.ts";

interface EffectPorts {
  readonly context: RoomContext;
  readonly room: Room;
  readonly sockets: Sockets;
  readonly joins: JoinAuthorizer;
  readonly traces: CurrentTrace;
  readonly reads: DatabaseReads;
  /** The alarm is to be planned again. */
  planAlarm(): void;
  /** The room's memory may differ from its storage and its sockets: make them match soon. */
  recoverSoon(): void;
  /** The effects of a turn are carried out. */
  performed(): void;
}

/** Folding waits so long, so that it delays no answer of the turn that makes it due. */
const FOLD_DELAY_MS = 100;

/** The sockets that cannot go on without an effect: their clients would miss something. */
function socketsOf(effect: Effect): readonly string[] {
  switch (effect.type) {
    case "send":
    case "sendBytes":
      return effect.to;
    case "attach":
      return [effect.connection.id];
    case "close":
    case "authorizeJoin":
    case "authorizeDocuments":
    case "queryDatabase":
    case "acknowledgeRead":
      return [effect.id];
    default:
      return [];
  }
}

export class EffectExecutor {
  readonly #ports: EffectPorts;
  readonly #tick = new TickPolicy();
  readonly #presenceTimer: FlushTimer;
  #hasPresenceChanged = false;
  /** Whether the latest tick has been sent. */
  #isTickSent = () => true;
  /** What the effects of this turn have sent, in points, and has not been counted for anyone. */
  #deliveredPoints = 0;
  #foldTimer: ReturnType<typeof setTimeout> | null = null;
  #resumeTimer: ReturnType<typeof setTimeout> | null = null;
  /** Does nothing when it ends: an object with a timer does not hibernate. */
  #awakeTimer: ReturnType<typeof setTimeout> | null = null;
  /** Sockets that the service has failed, and has not closed yet. */
  readonly #failed = new Set<string>();

  constructor(ports: EffectPorts) {
    this.#ports = ports;
    this.#presenceTimer = new FlushTimer(
      () => ports.context.now(),
      this.#tick,
      () => this.#flushPresence(),
    );
  }

  /** Carries out effects in order, then flushes what they queued as soon as the policies allow. Never throws. */
  perform(effects: readonly Effect[]): void {
    this.#deliveredPoints = 0;
    for (const effect of effects) {
      if (effect.type === "send") this.#tick.count(effect.to.length, this.#ports.context.now());
      this.#isolate(effect);
    }
    if (this.#hasPresenceChanged) this.#presenceTimer.request();
    this.#ports.sockets.requestFlush();
    this.#closeFailed();
    this.#ports.performed();
    this.askForMarks();
  }

  /** Some of what waited is sent. */
  flushed(): void {
    this.askForMarks();
    if (this.#ports.room.hasPresenceLeft) this.#presenceTimer.request();
    this.#recordSent();
  }

  #recordSent(): void {
    if (this.#isTickSent() && this.#tick.recordSent(this.#ports.context.now())) this.#presenceTimer.replan();
  }

  /** Asks the clients of documents that were sent much whether they have read it. */
  askForMarks(): void {
    const { room, sockets } = this.#ports;
    for (const { id, mark } of sockets.takeDueMarks()) this.perform(room.openDocuments.mark(id, mark));
  }

  #foldDocuments(): void {
    this.#foldTimer = null;
    try {
      this.#ports.room.foldDocuments();
    } catch (error) {
      this.#ports.context.report("The documents of a room could not be folded yet", error);
    }
    this.#ports.performed();
  }

  /** Closes sockets because of an error, so that their clients connect again and miss nothing. */
  fail(ids: readonly string[], what: string, error: unknown): void {
    this.#recordFailure(ids, what, error);
    this.#closeFailed();
  }

  #isolate(effect: Effect): void {
    try {
      this.#carryOut(effect);
    } catch (error) {
      this.#recordFailure(socketsOf(effect), `An effect of a room failed: ${effect.type}`, error);
    }
  }

  #recordFailure(ids: readonly string[], what: string, error: unknown): void {
    this.#ports.context.report(what, error);
    for (const id of ids) this.#failed.add(id);
  }

  /** Ends because each round closes sockets for good. */
  #closeFailed(): void {
    if (this.#failed.size === 0) return;
    const ids = [...this.#failed];
    this.#failed.clear();
    this.perform(this.#ports.room.disconnectFailed(ids));
  }

  #resume(): void {
    this.#resumeTimer = null;
    const { room, traces } = this.#ports;
    this.perform(traces.during(null, () => room.messages.resume()));
  }

  #flushPresence(): void {
    const now = this.#ports.context.now();
    const intervalMs = this.#tick.intervalAt(now);
    this.#tick.recordFlush(now);
    try {
      const effects = this.#ports.room.flush(intervalMs);
      this.#hasPresenceChanged = false; // after a failure the next effects try again
      if (!effects.some(({ type }) => type === "send")) this.#tick.recordEmpty();
      for (const effect of effects) this.#isolate(effect);
      if (this.#hasPresenceChanged) this.#presenceTimer.request(); // some of what sockets keep is left
    } catch (error) {
      this.#ports.context.report("The presence of a room could not be sent yet", error);
      this.#ports.recoverSoon();
    }
    this.#isTickSent = this.#ports.sockets.watchSending();
    this.#ports.sockets.requestFlush();
    this.#recordSent();
    this.#closeFailed();
    this.#ports.performed();
  }

  #countDelivery({ userId, isBroadcast, work = 0 }: Extract<Effect, { type: "countDelivery" }>): void {
    const points = this.#deliveredPoints + work;
    this.#deliveredPoints = 0;
    if (points > 0) this.#ports.room.messages.countDelivery(userId, points, isBroadcast);
  }

  #carryOut(effect: Effect): void {
    const { sockets, joins, reads } = this.#ports;
    switch (effect.type) {
      case "send":
        this.#deliveredPoints += deliveryPoints(sockets.send(effect.to, effect.message), effect.to.length);
        break;
      case "sendBytes":
        this.#deliveredPoints += deliveryPoints(effect.frame.length, effect.to.length);
        sockets.sendBytes(effect.to, effect.frame);
        break;
      case "foldDocuments":
        this.#foldTimer ??= setTimeout(() => this.#foldDocuments(), FOLD_DELAY_MS);
        break;
      case "stayAwake":
        if (this.#awakeTimer !== null) clearTimeout(this.#awakeTimer);
        this.#awakeTimer = setTimeout(() => {}, effect.ms);
        break;
      case "countDelivery":
        this.#countDelivery(effect);
        break;
      case "resumeIn":
        if (this.#resumeTimer !== null) clearTimeout(this.#resumeTimer);
        this.#resumeTimer = setTimeout(() => this.#resume(), effect.ms);
        break;
      case "presenceChanged":
        this.#tick.count(effect.receivers, this.#ports.context.now());
        this.#hasPresenceChanged = true;
        break;
      case "attach":
        sockets.attach(effect.connection);
        break;
      case "acknowledgeRead":
        sockets.acknowledgeRead(effect.id, effect.mark);
        break;
      case "close":
        sockets.close(effect.id, effect.code, effect.reason);
        break;
      case "planAlarm":
        this.#ports.planAlarm();
        break;
      case "holdJoins":
        joins.hold();
        break;
      case "recoverSoon":
        this.#ports.recoverSoon();
        break;
      case "authorizeJoin":
        joins.authorize(effect);
        break;
      case "authorizeRefresh":
        joins.refresh(effect);
        break;
      case "authorizeDocuments":
        joins.openDocuments(effect);
        break;
      case "refreshUser":
      case "checkUsers":
      case "refreshRoom":
      case "refreshTokens":
      case "queryDatabase":
        reads.enqueue(effect);
        break;
    }
  }
}
