/** Members who speak as fast as it goes: as soon as all have got a message, the next one is sent. */
import { FULL_BUCKET, SUSTAINED_FRAMES_PER_S } from "../../../src/realtime/transport/connection.ts";
import type { Line } from "./line.ts";
import { markOf, padded, readMarks } from "./mark.ts";
import { type Usage, watchUsage } from "./usage.ts";

export interface Pressure extends Omit<Usage, "elapsedS"> {
  readonly deliveredPerS: number;
}

const MESSAGE_BYTES = 100;
const RAMP_MS = 300;
/** Of Atrium's allowance of frames the generator spends this share, as the two clocks are not the same. */
const SPENT_SHARE = 0.9;
const LOOK_MS = 5;
/** Messages on their way are told apart by the lowest bits of their number. */
const RING = 1 << 16;

/**
 * Holds `inFlight` messages of the room on their way, of each member in turn, for at most `seconds`: no
 * longer than Atrium's limit against floods lets all members together go on.
 */
export async function press(
  lines: readonly Line[],
  pid: number,
  inFlight: number,
  seconds: number,
  stop: AbortSignal,
): Promise<Pressure> {
  const crowd = new Crowd(lines);
  for (let message = 0; message < inFlight; message += 1) crowd.speak();
  await crowd.until(performance.now() + RAMP_MS, stop);
  const before = crowd.delivered;
  const usage = watchUsage(pid);
  await crowd.until(performance.now() + seconds * 1000, stop);
  const { elapsedS, ...used } = usage();
  crowd.end();
  for (const line of lines) line.mustBeOpen();
  return { ...used, deliveredPerS: (crowd.delivered - before) / elapsedS };
}

class Crowd {
  readonly #lines: readonly Line[];
  readonly #startedAt = performance.now();
  /** How many receivers have yet to get a message. */
  readonly #missing = new Uint16Array(RING);
  #sent = 0;
  #hasEnded = false;
  delivered = 0;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
    for (const line of lines) line.listen((frame) => this.#hear(frame));
  }

  /** The next member sends a message, if its allowance lets it; all have the same. */
  speak(): void {
    const line = this.#lines[this.#sent % this.#lines.length];
    const elapsedS = (performance.now() - this.#startedAt) / 1000;
    const allowed = SPENT_SHARE * (FULL_BUCKET + SUSTAINED_FRAMES_PER_S * elapsedS) * this.#lines.length;
    if (this.#sent >= allowed) this.#hasEnded = true;
    if (this.#hasEnded || line === undefined) return;
    this.#sent += 1;
    this.#missing[this.#sent % RING] = this.#lines.length - 1;
    line.send(line.voice.say(padded(markOf(0, this.#sent, performance.now()), MESSAGE_BYTES)));
  }

  #hear(frame: Buffer): void {
    readMarks(frame, (_, number) => {
      this.delivered += 1;
      const missing = (this.#missing[number % RING] ?? 0) - 1;
      this.#missing[number % RING] = missing;
      if (missing === 0) this.speak();
    });
  }

  /** Waits for that moment (`performance.now()`), or for the allowance's end. */
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
