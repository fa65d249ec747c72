/** Work that is done in bounded slices, and continued by a later run when a run has done enough. */

/** How many more slices a run may do; all parts of its work share it. */
export class Slices {
  #left: number;

  constructor(count: number) {
    this.#left = count;
  }

  get areLeft(): boolean {
    return this.#left > 0;
  }

  /** Repeats `slice` until it is not full. False when slices ran out before that. */
  async finish(slice: () => Promise<{ readonly isFull: boolean }>): Promise<boolean> {
    while (this.areLeft) {
      this.#left -= 1;
      if (!(await slice()).isFull) return true;
    }
    return false;
  }
}
