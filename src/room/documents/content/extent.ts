/** How much of a content is rendered: up to so many characters. */

export class Extent {
  #left: number;
  #isCut = false;

  constructor(maxLength: number) {
    this.#left = maxLength;
  }

  /** Whether something was left out. */
  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
  }

  /** How many of so many characters there is room for; takes it. Nothing follows what was cut. */
  take(length: number): number {
    const taken = this.#isCut ? 0 : Math.min(length, this.#left);
    this.#left -= taken;
    if (taken < length) this.#isCut = true;
    return taken;
  }

  /** Whether there is room for all of so many characters; takes it. */
  takeAll(length: number): boolean {
    if (length > this.#left) this.#isCut = true;
    if (this.#isCut) return false;
    this.#left -= length;
    return true;
  }
}
