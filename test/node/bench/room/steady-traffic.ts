/** Participants send at a fixed rate, regardless of backlog: delivered share, delay and cost. */

import type { ClientProtocol, ClientSocket, Frame } from "./client-socket.ts";
import { Histogram } from "./histogram.ts";
import { markOf, padded, readMarks } from "./mark.ts";
import { type Usage, watchUsage } from "./usage.ts";

export interface Pacing {
  /** How many participants send; the others only receive. */
  readonly senders: number;
  /** Messages per sender and second. */
  readonly perSecond: number;
  readonly bytes: number;
  readonly frameOf: (protocol: ClientProtocol, text: string) => Frame;
  /** Cursors: of those that the server does not take yet, the latest is sent. */
  readonly areCursors?: boolean;
}

/** The result of one run. */
export interface Arrival extends Omit<Usage, "elapsedS"> {
  readonly deliveredPerS: number;
  /** The delivered share. A later cursor of the same user also delivers those before it. */
  readonly share: number;
  readonly framesPerS: number;
  readonly bytesPerS: number;
  /** Latency percentiles, from sending to arrival. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** How long it sends before the measurement starts. */
const RAMP_MS = 500;

export async function sendSteadily(
  sockets: readonly ClientSocket[],
  pid: number,
  pacing: Pacing,
  seconds: number,
  stop: AbortSignal,
): Promise<Arrival> {
  const arrivals = new Arrivals(sockets.length);
  for (const [receiver, socket] of sockets.entries())
    socket.listen((frame) => arrivals.receive(receiver, frame));
  const traffic = new SteadyTraffic(sockets, pacing);
  await traffic.runUntil(performance.now() + RAMP_MS, stop);
  arrivals.reset();
  for (const socket of sockets) socket.resetCounts();
  const sentBefore = traffic.sent;
  const usage = watchUsage(pid);
  await traffic.runUntil(performance.now() + seconds * 1000, stop);
  const { elapsedS, ...used } = usage();
  for (const socket of sockets) socket.mustBeOpen();
  return {
    ...used,
    deliveredPerS: arrivals.delivered / elapsedS,
    share: arrivals.delivered / ((traffic.sent - sentBefore) * (sockets.length - 1)),
    framesPerS: total(sockets, "frames") / elapsedS,
    bytesPerS: total(sockets, "bytes") / elapsedS,
    p50Ms: arrivals.ages.quantile(0.5),
    p95Ms: arrivals.ages.quantile(0.95),
    p99Ms: arrivals.ages.quantile(0.99),
  };
}

const total = (sockets: readonly ClientSocket[], what: "frames" | "bytes"): number =>
  sockets.reduce((sum, socket) => sum + socket[what], 0);

/** Takes turns between the senders at even intervals. Catches up at once when it is late. */
export class SteadyTraffic {
  readonly #sockets: readonly ClientSocket[];
  readonly #pacing: Pacing;
  readonly #startedAt = performance.now();
  sent = 0;

  constructor(sockets: readonly ClientSocket[], pacing: Pacing) {
    this.#sockets = sockets.slice(0, pacing.senders);
    this.#pacing = pacing;
  }

  /** Sends until that time (`performance.now()`). */
  async runUntil(endMs: number, stop: AbortSignal): Promise<void> {
    const gapMs = 1000 / (this.#pacing.perSecond * this.#pacing.senders);
    for (let now = performance.now(); now < endMs; now = performance.now()) {
      stop.throwIfAborted();
      while (this.#startedAt + this.sent * gapMs <= now) this.#sendNext();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #sendNext(): void {
    const sender = this.sent % this.#sockets.length;
    const number = Math.floor(this.sent / this.#sockets.length) + 1;
    this.sent += 1;
    const socket = this.#sockets[sender];
    const text = padded(markOf(sender, number, performance.now()), this.#pacing.bytes);
    if (socket === undefined) return;
    const frame = this.#pacing.frameOf(socket.protocol, text);
    if (this.#pacing.areCursors) socket.sendCursor(frame);
    else socket.send(frame);
  }
}

/** The latest number that each receiver has from each sender. */
class Arrivals {
  readonly #participants: number;
  readonly #latest: Int32Array;
  readonly ages = new Histogram();
  delivered = 0;

  constructor(participants: number) {
    this.#participants = participants;
    this.#latest = new Int32Array(participants * participants);
  }

  receive(receiver: number, frame: Buffer): void {
    const now = performance.now();
    readMarks(frame, (sender, number, sentAtMs) => {
      if (sender === receiver) return;
      const index = receiver * this.#participants + sender;
      const news = number - (this.#latest[index] ?? 0);
      if (news <= 0) return;
      this.#latest[index] = number;
      this.delivered += news;
      this.ages.add(now - sentAtMs);
    });
  }

  reset(): void {
    this.delivered = 0;
    this.ages.clear();
  }
}
