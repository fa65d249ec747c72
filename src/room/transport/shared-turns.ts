/** Lets frames that arrive at once be handled together when they write: they wait for the disk once. */

/** More than this are handled at once, whatever they would save: they are in memory until then. */
const MAX_FRAMES = 256;
const MAX_LENGTH = 1024 * 1024;

interface TurnPorts<Sender> {
  /** Never throws. */
  handle(sender: Sender, frame: string | ArrayBuffer): void;
  /** Grows with each write to storage. */
  writes(): number;
  /** Epoch ms. The platform's clock stands still while an event is handled. */
  now(): number;
}

/**
 * A frame that arrives alone is handled at once, and so is each while nothing is written. What arrives in the same
 * millisecond as one that has written, or after one that waits, is handled together in the next turn of the event loop,
 * in the order of its arrival: storage commits once for all of it.
 */
export class SharedTurns<Sender> {
  readonly #ports: TurnPorts<Sender>;
  #waiting: { readonly sender: Sender; readonly frame: string | ArrayBuffer }[] = [];
  /** Of what waits, in bytes or characters. */
  #length = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** When frames last wrote, in epoch ms. */
  #wroteAt = Number.NEGATIVE_INFINITY;

  constructor(ports: TurnPorts<Sender>) {
    this.#ports = ports;
  }

  receive(sender: Sender, frame: string | ArrayBuffer): void {
    this.#waiting.push({ sender, frame });
    this.#length += typeof frame === "string" ? frame.length : frame.byteLength;
    const isAlone = this.#timer === null && this.#ports.now() !== this.#wroteAt;
    if (isAlone || this.#waiting.length >= MAX_FRAMES || this.#length >= MAX_LENGTH) this.finish();
    else this.#timer ??= setTimeout(() => this.finish(), 0);
  }

  /** Handles what waits now: something follows that has to find it done. */
  finish(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const frames = this.#waiting;
    if (frames.length === 0) return;
    this.#waiting = [];
    this.#length = 0;
    const before = this.#ports.writes();
    for (const { sender, frame } of frames) this.#ports.handle(sender, frame);
    if (this.#ports.writes() !== before) this.#wroteAt = this.#ports.now();
  }
}
