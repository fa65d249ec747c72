/** Carries out the room's effects: sends and closes, starts reads and joins, and flushes presence when it is time. */
import type { D1Reads } from "./d1-reads.ts";
import type { Effect } from "./transport/effects.ts";
import { FlushTimer, TickPolicy } from "./transport/flush.ts";
import type { Sockets } from "./transport/sockets.ts";

interface EffectPorts {
  now(): number;
  readonly sockets: Sockets;
  readonly reads: D1Reads;
  /** The effects that send the changed presence. */
  flushPresence(): Effect[];
  authorizeJoin(id: string, token: string): void;
  drainOutbox(): void;
}

export class EffectExecutor {
  readonly #ports: EffectPorts;
  readonly #tick = new TickPolicy();
  readonly #presenceTimer: FlushTimer;
  #hasPresenceChanged = false;

  constructor(ports: EffectPorts) {
    this.#ports = ports;
    this.#presenceTimer = new FlushTimer(
      () => ports.now(),
      this.#tick,
      () => this.#flushPresence(),
    );
  }

  /** Carries out effects in order, then flushes what they queued as soon as the policies allow. */
  perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type === "send") this.#tick.count(effect.to.length, this.#ports.now());
      this.#carryOut(effect);
    }
    if (this.#hasPresenceChanged) this.#presenceTimer.request();
    this.#ports.sockets.requestFlush();
  }

  #flushPresence(): void {
    this.#hasPresenceChanged = false;
    this.#tick.recordFlush(this.#ports.now());
    for (const effect of this.#ports.flushPresence()) this.#carryOut(effect);
    this.#ports.sockets.requestFlush();
  }

  #carryOut(effect: Effect): void {
    const { sockets, reads } = this.#ports;
    switch (effect.type) {
      case "send":
        sockets.send(effect.to, effect.message);
        break;
      case "presenceChanged":
        this.#tick.count(effect.receivers, this.#ports.now());
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
      case "authorizeJoin":
        this.#ports.authorizeJoin(effect.id, effect.request.token);
        break;
      case "drainOutbox":
        this.#ports.drainOutbox();
        break;
      case "refreshUser":
      case "refreshRoom":
      case "refreshTokens":
      case "queryDatabase":
        reads.enqueue(effect);
        break;
    }
  }
}
