/** Carries out the room's effects, each by itself: a failed effect costs its own socket, and no other one. */
import type { Room } from "../engine/room.ts";
import { deliveryPoints } from "../protocol/costs.ts";
import { FlushTimer, TickPolicy } from "../transport/batching.ts";
import type { Effect } from "../transport/connection.ts";
import type { Sockets } from "../transport/sockets.ts";
import type { DatabaseReads } from "./database-reads.ts";
import type { JoinAuthorizer } from "./join-authorizer.ts";
import type { CurrentTrace, RoomContext } from "./room-context.ts";

/** The parts of the runtime that effects reach. */
interface EffectPorts {
  readonly context: RoomContext;
  readonly room: Room;
  readonly sockets: Sockets;
  readonly joins: JoinAuthorizer;
  readonly traces: CurrentTrace;
  readonly reads: DatabaseReads;
  readonly alarm: {
    outdate(): void;
    recoverSoon(): void;
  };
  /** The effects of a turn are carried out. */
  performed(): void;
}

type EffectOf<Type extends Effect["type"]> = Extract<Effect, { readonly type: Type }>;
interface Executor<Type extends Effect["type"]> {
  execute(effect: EffectOf<Type>): void;
}
type Executors = { readonly [Type in Effect["type"]]: Executor<Type>["execute"] };

/** The delay of folding, so that it delays no answer of the turn that makes it due. */
const FOLD_DELAY_MS = 100;

/** The sockets to close if an effect fails: their clients would miss something. */
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
  readonly #executors: Executors;
  readonly #tick = new TickPolicy();
  readonly #presenceTimer: FlushTimer;
  #hasPresenceChanged = false;
  #isHeld = false;
  /** Whether the latest tick has been sent. */
  #isTickSent = () => true;
  /** Points that the effects of this turn have sent, and that are not counted for anyone yet. */
  #deliveredPoints = 0;
  #foldTimer: ReturnType<typeof setTimeout> | null = null;
  #resumeTimer: ReturnType<typeof setTimeout> | undefined;
  /** Does nothing when it ends: an object with a timer does not hibernate. */
  #awakeTimer: ReturnType<typeof setTimeout> | undefined;
  /** Sockets that the service has failed, and has not closed yet. */
  readonly #failed = new Set<string>();

  constructor(ports: EffectPorts) {
    this.#ports = ports;
    this.#executors = this.#createExecutors();
    this.#presenceTimer = new FlushTimer(
      () => ports.context.now(),
      this.#tick,
      () => this.#flushPresence(),
    );
  }

  /** Runs `work`, whose effects let nothing leave before its end. */
  hold(work: () => void): void {
    this.#isHeld = true;
    this.#ports.sockets.hold(work);
    this.#isHeld = false;
    this.perform([]);
  }

  /** Carries out effects in order, then flushes the queued frames as soon as the policies allow. Never throws. */
  perform(effects: readonly Effect[]): void {
    this.#deliveredPoints = 0;
    for (const effect of effects) {
      if (effect.type === "send") this.#tick.count(effect.to.length, this.#ports.context.now());
      this.#isolate(effect);
    }
    if (this.#isHeld) return;
    if (this.#hasPresenceChanged) this.#presenceTimer.request();
    this.#ports.sockets.requestFlush();
    this.#closeFailed();
    this.#ports.performed();
    this.#askForMarks();
  }

  /** Some of the waiting frames are sent. */
  flushed(): void {
    this.#askForMarks();
    if (this.#ports.room.hasPresenceLeft) this.#presenceTimer.request();
    this.#recordSent();
  }

  #recordSent(): void {
    if (this.#isTickSent() && this.#tick.recordSent(this.#ports.context.now())) this.#presenceTimer.replan();
  }

  /** Asks the clients of documents that were sent much whether they have read it. */
  #askForMarks(): void {
    const { room, sockets } = this.#ports;
    for (const { id, mark } of sockets.takeDueMarks()) this.perform(room.openDocuments.mark(id, mark));
  }

  #foldDocuments(): void {
    this.#foldTimer = null;
    try {
      this.#ports.room.openDocuments.foldDue();
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
      const execute: Executor<Effect["type"]>["execute"] = this.#executors[effect.type];
      execute(effect);
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

  #flushPresence(): void {
    const now = this.#ports.context.now();
    const intervalMs = this.#tick.intervalAt(now);
    this.#tick.recordFlush(now);
    try {
      const effects = this.#ports.room.flush(intervalMs);
      this.#hasPresenceChanged = false; // stays set if the flush throws: the next effects try again
      if (!effects.some(({ type }) => type === "send")) this.#tick.recordEmpty();
      for (const effect of effects) this.#isolate(effect);
      if (this.#hasPresenceChanged) this.#presenceTimer.request(); // some attachments are left to write
    } catch (error) {
      this.#ports.context.report("The presence of a room could not be sent yet", error);
      this.#ports.alarm.recoverSoon();
    }
    this.#isTickSent = this.#ports.sockets.watchSending();
    this.#ports.sockets.requestFlush();
    this.#recordSent();
    this.#closeFailed();
    this.#ports.performed();
  }

  #countDelivery({ userId, isBroadcast, work = 0 }: EffectOf<"countDelivery">): void {
    const points = this.#deliveredPoints + work;
    this.#deliveredPoints = 0;
    if (points > 0) this.#ports.room.queue.countDelivery(userId, points, isBroadcast);
  }

  #createExecutors(): Executors {
    const ports = this.#ports;
    const { context, sockets, joins, reads, room, traces } = ports;
    return {
      send: ({ to, message }) => {
        this.#deliveredPoints += deliveryPoints(sockets.send(to, message), to.length);
      },
      sendBytes: ({ to, frame }) => {
        this.#deliveredPoints += deliveryPoints(frame.length, to.length);
        sockets.sendBytes(to, frame);
      },
      foldDocuments: () => {
        this.#foldTimer ??= setTimeout(() => this.#foldDocuments(), FOLD_DELAY_MS);
      },
      stayAwake: ({ ms }) => {
        clearTimeout(this.#awakeTimer);
        this.#awakeTimer = setTimeout(() => {}, ms);
      },
      resumeIn: ({ ms }) => {
        clearTimeout(this.#resumeTimer);
        this.#resumeTimer = setTimeout(
          () => this.perform(traces.during(null, () => room.messages.resume())),
          ms,
        );
      },
      presenceChanged: ({ receivers }) => {
        this.#tick.count(receivers, context.now());
        this.#hasPresenceChanged = true;
      },
      countDelivery: (effect) => this.#countDelivery(effect),
      attach: ({ connection }) => sockets.attach(connection),
      acknowledgeRead: ({ id, mark }) => sockets.acknowledgeRead(id, mark),
      close: ({ id, code, reason }) => sockets.close(id, code, reason),
      planAlarm: () => ports.alarm.outdate(),
      recoverSoon: () => ports.alarm.recoverSoon(),
      holdJoins: () => joins.hold(),
      authorizeJoin: (effect) => joins.authorize(effect),
      authorizeRefresh: (effect) => joins.refresh(effect),
      authorizeDocuments: (effect) => joins.openDocuments(effect),
      refreshUser: (effect) => reads.enqueue(effect),
      refreshRoom: (effect) => reads.enqueue(effect),
      refreshTokens: (effect) => reads.enqueue(effect),
      refreshAccess: (effect) => reads.enqueue(effect),
      queryDatabase: (effect) => reads.enqueue(effect),
    };
  }
}
