/** A character limit for rendered content. */

export class Extent {
  #left: number;
  #isCut = false;

  constructor(maxLength: number) {
    this.#left = maxLength;
  }

  /** Tells whether something was left out. */
  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
  }

  /** Takes up to `length` characters, and returns the number taken. Nothing follows a cut. */
  take(length: number): number {
    const taken = this.#isCut ? 0 : Math.min(length, this.#left);
    this.#left -= taken;
    if (taken < length) this.#isCut = true;
    return taken;
  }

  /** Takes all of these characters, or none. */
  takeAll(length: number): boolean {
    if (length > this.#left) this.#isCut = true;
    if (this.#isCut) return false;
    this.#left -= length;
    return true;
  }
}
