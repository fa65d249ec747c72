/** Batches frames that write and arrive at once: they wait for the disk once. */

/** Bounds of a batch, which is in memory. */
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

/**
 * A frame is handled at once, unless it arrives in the same millisecond as one that has written, or behind one that
 * waits. The others are handled in order in the next turn of the event loop: storage commits once for all of them.
 */
export class FrameBatcher<Sender> {
  readonly #ports: FrameBatcherPorts<Sender>;
  #batch: { readonly sender: Sender; readonly frame: string | ArrayBuffer }[] = [];
  /** Of the batch, in bytes or characters. */
  #length = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** When frames last wrote, in epoch ms. */
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

  /** Handles the batch now, before something that has to find it done. */
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
