/** Participants send as fast as possible: the next message follows when all have received one. */
import { RATES } from "../../../../src/room/protocol/costs.ts";
import type { ClientSocket } from "./client-socket.ts";
import { markOf, padded, readMarks } from "./mark.ts";
import { type Usage, watchUsage } from "./usage.ts";

export interface Pressure extends Omit<Usage, "elapsedS"> {
  readonly deliveredPerS: number;
}

const MESSAGE_BYTES = 100;
const RAMP_MS = 300;
/** The share of Atrium's rate limit that the generator uses, because the two clocks differ. */
const SPENT_SHARE = 0.9;
const LOOK_MS = 5;
/** Messages in flight are identified by the lowest bits of their number. */
const RING = 1 << 16;

/**
 * Keeps `inFlight` messages in flight, from each participant in turn, for at most `seconds`, or until Atrium's
 * rate limit stops all participants.
 */
export async function saturate(
  sockets: readonly ClientSocket[],
  pid: number,
  inFlight: number,
  seconds: number,
  stop: AbortSignal,
): Promise<Pressure> {
  const traffic = new SaturatingTraffic(sockets);
  for (let message = 0; message < inFlight; message += 1) traffic.sendNext();
  await traffic.until(performance.now() + RAMP_MS, stop);
  const before = traffic.delivered;
  const usage = watchUsage(pid);
  await traffic.until(performance.now() + seconds * 1000, stop);
  const { elapsedS, ...used } = usage();
  traffic.end();
  for (const socket of sockets) socket.mustBeOpen();
  return { ...used, deliveredPerS: (traffic.delivered - before) / elapsedS };
}

class SaturatingTraffic {
  readonly #sockets: readonly ClientSocket[];
  readonly #startedAt = performance.now();
  /** Number of receivers that still miss a message, by message. */
  readonly #missing = new Uint16Array(RING);
  #sent = 0;
  #hasEnded = false;
  delivered = 0;

  constructor(sockets: readonly ClientSocket[]) {
    this.#sockets = sockets;
    for (const socket of sockets) socket.listen((frame) => this.#receive(frame));
  }

  /** Sends a message from the next participant, if the rate limit that all share permits it. */
  sendNext(): void {
    const socket = this.#sockets[this.#sent % this.#sockets.length];
    const elapsedS = (performance.now() - this.#startedAt) / 1000;
    const allowed =
      SPENT_SHARE *
      (RATES.framesOfSocket.burst + RATES.framesOfSocket.perSecond * elapsedS) *
      this.#sockets.length;
    if (this.#sent >= allowed) this.#hasEnded = true;
    if (this.#hasEnded || socket === undefined) return;
    this.#sent += 1;
    this.#missing[this.#sent % RING] = this.#sockets.length - 1;
    socket.send(socket.protocol.broadcast(padded(markOf(0, this.#sent, performance.now()), MESSAGE_BYTES)));
  }

  #receive(frame: Buffer): void {
    readMarks(frame, (_, number) => {
      this.delivered += 1;
      const missing = (this.#missing[number % RING] ?? 0) - 1;
      this.#missing[number % RING] = missing;
      if (missing === 0) this.sendNext();
    });
  }

  /** Waits until that time (`performance.now()`), or until the rate limit is used up. */
  async until(endMs: number, stop: AbortSignal): Promise<void> {
    while (!this.#hasEnded && performance.now() < endMs) {
      stop.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  end(): void {
    this.#hasEnded = true;
  }
}
