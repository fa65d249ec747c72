/** The order of keys in SQLite, which compares UTF-8: by code points. */

const SURROGATES = 0xd800;
const BEHIND_SURROGATES = 0xe000;

/** The order of two UTF-16 units as parts of code points: half of a pair stands for one above U+FFFF. */
const rank = (unit: number): number =>
  unit >= SURROGATES && unit < BEHIND_SURROGATES ? unit + 0x10000 : unit;

/** Below, at or above zero. `<` would put those above U+FFFF before U+E000. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}
