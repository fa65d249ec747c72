/** Batches frames that arrive at once and write: they wait for the disk once. */

const MAX_FRAMES = 256;
const MAX_LENGTH = 1024 * 1024;

interface FrameBatcherPorts<Sender> {
  /** Never throws. */
  handle(sender: Sender, frame: string | ArrayBuffer): void;
  /** Grows with each write to storage. */
  writes(): number;
  /** Epoch ms. The platform's clock stands still while an event is handled. */
  now(): number;
}

/** A frame in the same millisecond as a write waits for the next turn: storage commits once for all of them. */
export class FrameBatcher<Sender> {
  readonly #ports: FrameBatcherPorts<Sender>;
  #batch: { readonly sender: Sender; readonly frame: string | ArrayBuffer }[] = [];
  #length = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #wroteAt = Number.NEGATIVE_INFINITY;

  constructor(ports: FrameBatcherPorts<Sender>) {
    this.#ports = ports;
  }

  receive(sender: Sender, frame: string | ArrayBuffer): void {
    this.#batch.push({ sender, frame });
    this.#length += typeof frame === "string" ? frame.length : frame.byteLength;
    const isAlone = this.#timer === null && this.#ports.now() !== this.#wroteAt;
    if (isAlone || this.#batch.length >= MAX_FRAMES || this.#length >= MAX_LENGTH) this.finish();
    else this.#timer ??= setTimeout(() => this.finish(), 0);
  }

  /** Handles the batch now, before work that depends on it. */
  finish(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const frames = this.#batch;
    if (frames.length === 0) return;
    this.#batch = [];
    this.#length = 0;
    const before = this.#ports.writes();
    for (const { sender, frame } of frames) this.#ports.handle(sender, frame);
    if (this.#ports.writes() !== before) this.#wroteAt = this.#ports.now();
  }
}
