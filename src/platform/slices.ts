/** Work that is done in bounded slices, and continued by a later run when a run has done enough. */

/** How many more slices a run may do; all parts of its work share it. */
export class Slices {
  #left: number;
  readonly #all: Slices | null;

  constructor(count: number, all: Slices | null = null) {
    this.#left = count;
    this.#all = all;
  }

  get areLeft(): boolean {
    return this.#left > 0 && (this.#all === null || this.#all.areLeft);
  }

  /** Of these slices, so many at most, for one part of the work. */
  upTo(count: number): Slices {
    return new Slices(count, this);
  }

  #take(): void {
    this.#left -= 1;
    if (this.#all !== null) this.#all.#take();
  }

  /** Repeats `slice` until it is not full. False when slices ran out before that. */
  async finish(slice: () => Promise<{ readonly isFull: boolean }>): Promise<boolean> {
    while (this.areLeft) {
      this.#take();
      if (!(await slice()).isFull) return true;
    }
    return false;
  }
}
