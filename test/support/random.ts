/** Random numbers that are the same for the same seed, for simulations and the data of benches. */

export type Random = (bound: number) => number;

/** Integers below `bound`, by a linear congruential generator whose period is 2^32. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
