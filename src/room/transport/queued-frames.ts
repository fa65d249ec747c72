/** The frames that wait for a socket. Most sockets of a room wait for the same ones, and share them. */

/** A frame for any number of sockets: text, or bytes of a document. */
export interface Outgoing {
  readonly frame: string | Uint8Array;
  /** Of its length, what is an event. */
  readonly eventBytes: number;
}

const NOTHING: Outgoing = { frame: "", eventBytes: 0 };

/** Frames in order, which never change: with a further one they are others, the same for all sockets. */
export class QueuedFrames {
  readonly #before: QueuedFrames | null;
  readonly #last: Outgoing;
  readonly count: number;
  /** Of all frames but the last, in characters; infinite if any is bytes. */
  readonly #lengthBefore: number;
  /** With the latest further frame: a message is queued for one of its receivers after the other. */
  #longer: QueuedFrames | null = null;
  #parts: readonly Outgoing[] | null = null;
  #array: Outgoing | null = null;

  /** Without arguments, no frames. */
  constructor(before: QueuedFrames | null = null, last = NOTHING) {
    this.#before = before;
    this.#last = last;
    this.count = before === null ? 0 : before.count + 1;
    const length = before === null ? 0 : before.#lengthBefore + before.#last.frame.length;
    this.#lengthBefore = typeof last.frame === "string" ? length : Number.POSITIVE_INFINITY;
  }

  with(outgoing: Outgoing): QueuedFrames {
    const known = this.#longer;
    if (known !== null && known.#last === outgoing) return known;
    this.#longer = new QueuedFrames(this, outgoing);
    return this.#longer;
  }

  /** What was last queued behind these frames may be large, and is not needed any more. */
  forget(): void {
    this.#longer = null;
  }

  /** Oldest first. */
  get parts(): readonly Outgoing[] {
    this.#parts ??= this.#listParts();
    return this.#parts;
  }

  #listParts(): Outgoing[] {
    const parts: Outgoing[] = [];
    for (let queue: QueuedFrames = this; queue.#before !== null; queue = queue.#before)
      parts.push(queue.#last);
    return parts.reverse();
  }

  /** True for texts that are as long as `length` at most without the last one. */
  isTextWithin(length: number): boolean {
    return this.#lengthBefore < length;
  }

  /** The first `count` frames, which are texts, as one. It is made once for all sockets. */
  arrayOf(count: number): Outgoing {
    let queue: QueuedFrames = this;
    while (queue.count > count && queue.#before !== null) queue = queue.#before;
    queue.#array ??= joinTexts(queue.parts);
    return queue.#array;
  }
}

/** Texts as an array. The brackets become part of the first and the last: around the joined ones, they would have them copied again. */
function joinTexts(parts: readonly Outgoing[]): Outgoing {
  const texts = parts.map(({ frame }) => frame);
  const last = texts.length - 1;
  texts[0] = `[${texts[0]}`;
  texts[last] = `${texts[last]}]`;
  return { frame: texts.join(), eventBytes: parts.reduce((sum, { eventBytes }) => sum + eventBytes, 0) };
}
