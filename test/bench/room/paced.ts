/** Members who speak at a steady rate, whatever becomes of it: what arrives of that, how old, and what it costs. */
import { Histogram } from "./histogram.ts";
import type { Frame, Line, Voice } from "./line.ts";
import { markOf, padded, readMarks } from "./mark.ts";
import { type Usage, watchUsage } from "./usage.ts";

export interface Pacing {
  /** So many of the members speak, the others only listen. */
  readonly senders: number;
  /** What each of them says. */
  readonly perSecond: number;
  readonly bytes: number;
  readonly frameOf: (voice: Voice, text: string) => Frame;
}

/** What one run showed. */
export interface Arrival extends Omit<Usage, "elapsedS"> {
  readonly deliveredPerS: number;
  /** Of what was sent. A cursor that a later one of the same user overtook counts as delivered with that one. */
  readonly share: number;
  readonly framesPerS: number;
  readonly bytesPerS: number;
  /** Ages at arrival, from the moment of sending. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** Sending before anything is measured. */
const RAMP_MS = 500;

export async function sendPaced(
  lines: readonly Line[],
  pid: number,
  pacing: Pacing,
  seconds: number,
  stop: AbortSignal,
): Promise<Arrival> {
  const arrivals = new Arrivals(lines.length);
  for (const [receiver, line] of lines.entries()) line.listen((frame) => arrivals.hear(receiver, frame));
  const speech = new Speech(lines, pacing);
  await speech.until(performance.now() + RAMP_MS, stop);
  arrivals.reset();
  for (const line of lines) line.resetCounts();
  const sentBefore = speech.sent;
  const usage = watchUsage(pid);
  await speech.until(performance.now() + seconds * 1000, stop);
  const { elapsedS, ...used } = usage();
  for (const line of lines) line.mustBeOpen();
  return {
    ...used,
    deliveredPerS: arrivals.delivered / elapsedS,
    share: arrivals.delivered / ((speech.sent - sentBefore) * (lines.length - 1)),
    framesPerS: total(lines, "frames") / elapsedS,
    bytesPerS: total(lines, "bytes") / elapsedS,
    p50Ms: arrivals.ages.quantile(0.5),
    p95Ms: arrivals.ages.quantile(0.95),
    p99Ms: arrivals.ages.quantile(0.99),
  };
}

const total = (lines: readonly Line[], what: "frames" | "bytes"): number =>
  lines.reduce((sum, line) => sum + line[what], 0);

/** The senders in turns, evenly spread over time. Being late is made up for at once. */
class Speech {
  readonly #lines: readonly Line[];
  readonly #pacing: Pacing;
  readonly #startedAt = performance.now();
  sent = 0;

  constructor(lines: readonly Line[], pacing: Pacing) {
    this.#lines = lines.slice(0, pacing.senders);
    this.#pacing = pacing;
  }

  /** Speaks until that moment (`performance.now()`). */
  async until(endMs: number, stop: AbortSignal): Promise<void> {
    const gapMs = 1000 / (this.#pacing.perSecond * this.#pacing.senders);
    for (let now = performance.now(); now < endMs; now = performance.now()) {
      stop.throwIfAborted();
      while (this.#startedAt + this.sent * gapMs <= now) this.#speak();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #speak(): void {
    const sender = this.sent % this.#lines.length;
    const number = Math.floor(this.sent / this.#lines.length) + 1;
    this.sent += 1;
    const line = this.#lines[sender];
    const text = padded(markOf(sender, number, performance.now()), this.#pacing.bytes);
    line?.send(this.#pacing.frameOf(line.voice, text));
  }
}

/** What came of others: the latest number that each receiver has of each sender. */
class Arrivals {
  readonly #members: number;
  readonly #latest: Int32Array;
  readonly ages = new Histogram();
  delivered = 0;

  constructor(members: number) {
    this.#members = members;
    this.#latest = new Int32Array(members * members);
  }

  hear(receiver: number, frame: Buffer): void {
    const now = performance.now();
    readMarks(frame, (sender, number, sentAtMs) => {
      if (sender === receiver) return;
      const index = receiver * this.#members + sender;
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
