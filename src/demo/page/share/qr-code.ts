/** QR codes of links (ISO/IEC 18004): byte mode, error correction level L, versions 1 to 5, which have one block each. */
import { errorCorrection } from "./reed-solomon.ts";

/** How many codewords of data and of error correction each version has. */
const VERSIONS = [
  [19, 7],
  [34, 10],
  [55, 15],
  [80, 20],
  [108, 26],
] as const;

/** Which modules a mask inverts. */
const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Rows of modules, dark ones true; without the quiet zone of four modules around them. */
export type Modules = readonly (readonly boolean[])[];

/** The code of a text; null for one of more than 106 bytes. */
export function qrCode(text: string): Modules | null {
  const bytes = new TextEncoder().encode(text);
  const version = VERSIONS.findIndex(([data]) => bytes.length + 2 <= data);
  const [dataLength, correctionLength] = VERSIONS[version] ?? [0, 0];
  if (dataLength === 0) return null;
  const data = codewords(bytes, dataLength);
  const bits = [...data, ...errorCorrection(data, correctionLength)].flatMap(bitsOf);
  const masked = MASKS.map((_, mask) => draw(4 * version + 21, bits, mask));
  return masked.reduce((best, next) => (penalty(next) < penalty(best) ? next : best));
}

const bitsOf = (byte: number): boolean[] =>
  Array.from({ length: 8 }, (_, at) => ((byte >> (7 - at)) & 1) === 1);

/** The mode, the length, the text and the terminator, which shift all bytes by four bits; then the padding. */
function codewords(bytes: Uint8Array, length: number): number[] {
  const nibbles = [
    4,
    bytes.length >> 4,
    bytes.length & 15,
    ...[...bytes].flatMap((b) => [b >> 4, b & 15]),
    0,
  ];
  const filled = Array.from({ length: nibbles.length / 2 }, (_, at) => {
    const [high = 0, low = 0] = nibbles.slice(2 * at, 2 * at + 2);
    return 16 * high + low;
  });
  const padding = Array.from({ length: length - filled.length }, (_, at) => (at % 2 === 0 ? 0xec : 0x11));
  return [...filled, ...padding];
}

function draw(size: number, bits: readonly boolean[], mask: number): boolean[][] {
  const modules: (boolean | undefined)[][] = Array.from({ length: size }, () => new Array(size));
  const set = (x: number, y: number, isDark: boolean) => {
    const row = modules[y];
    if (row !== undefined && x >= 0 && x < size) row[x] = isDark;
  };
  drawPatterns(size, set);
  drawFormat(size, mask, set);
  let next = 0;
  for (const [x, y] of zigzag(size)) {
    if (modules[y]?.[x] !== undefined) continue;
    set(x, y, (bits[next] ?? false) !== MASKS[mask]?.(x, y));
    next += 1;
  }
  return modules.map((row) => Array.from(row, (module) => module === true));
}

type Set = (x: number, y: number, isDark: boolean) => void;

/** The three finders with their separators, the alignment pattern and the timing patterns. */
function drawPatterns(size: number, set: Set): void {
  for (let at = 0; at < size; at += 1) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  const square = (x: number, y: number, radius: number, isDark: (distance: number) => boolean) => {
    for (let dy = -radius; dy <= radius; dy += 1)
      for (let dx = -radius; dx <= radius; dx += 1)
        set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  const isFinder = (distance: number) => distance !== 2 && distance !== 4;
  square(3, 3, 4, isFinder);
  square(size - 4, 3, 4, isFinder);
  square(3, size - 4, 4, isFinder);
  if (size > 21) square(size - 7, size - 7, 2, (distance) => distance !== 1);
}

/** The level and the mask with their own error correction, twice, and the module that is always dark. */
function drawFormat(size: number, mask: number, set: Set): void {
  const format = (1 << 3) | mask;
  let rest = format;
  for (let step = 0; step < 10; step += 1) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
  const bits = ((format << 10) | rest) ^ 0x5412;
  for (let at = 0; at < 15; at += 1) {
    const isDark = ((bits >> at) & 1) === 1;
    if (at < 8) set(8, at < 6 ? at : at + 1, isDark);
    else set(at === 8 ? 7 : 14 - at, 8, isDark);
    if (at < 8) set(size - 1 - at, 8, isDark);
    else set(8, size - 15 + at, isDark);
  }
  set(8, size - 8, true);
}

/** The order of the data's modules: two columns at a time, up and down in turn, from the lower right. */
function* zigzag(size: number): Generator<readonly [number, number]> {
  for (let right = size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right = 5; // the vertical timing pattern
    for (let step = 0; step < size; step += 1) {
      const y = isUp ? size - 1 - step : step;
      yield [right, y];
      yield [right - 1, y];
    }
  }
}

/** How hard the code is to read. */
function penalty(modules: Modules): number {
  const rows = modules.map((row) => row.map(Number).join(""));
  const columns = modules.map((_, x) => modules.map((row) => Number(row[x])).join(""));
  let points = 0;
  for (const line of [...rows, ...columns]) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) points += run.length - 2;
    points += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  for (const [y, row] of rows.entries())
    for (let x = 1; y > 0 && x < row.length; x += 1)
      if (/^(0000|1111)$/.test(row.slice(x - 1, x + 1) + (rows[y - 1] ?? "").slice(x - 1, x + 1)))
        points += 3;
  const dark = rows.join("").replaceAll("0", "").length / rows.length ** 2;
  return points + 10 * Math.floor(Math.abs(dark - 0.5) * 20);
}
