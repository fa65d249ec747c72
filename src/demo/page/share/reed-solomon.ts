/** Reed–Solomon codewords over the field of 256 elements that QR codes use. */

/** Multiplies two elements modulo x⁸ + x⁴ + x³ + x² + 1. */
function multiply(one: number, other: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1)
    product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((other >> bit) & 1) * one);
  return product;
}

/** The coefficients of (x − 1)(x − 2)(x − 4)… without the first, which is 1. */
function generator(length: number): number[] {
  let factors = [1];
  for (let root = 1, step = 0; step < length; root = multiply(root, 2), step += 1)
    factors = [...factors, 0].map((factor, at) => factor ^ multiply(factors[at - 1] ?? 0, root));
  return factors.slice(1);
}

/** The codewords that correct errors in `data`: the rest of its division by the generator. */
export function errorCorrection(data: readonly number[], length: number): number[] {
  const divisor = generator(length);
  let rest: number[] = new Array(length).fill(0);
  for (const byte of data) {
    const factor = byte ^ (rest[0] ?? 0);
    rest = divisor.map((coefficient, at) => (rest[at + 1] ?? 0) ^ multiply(coefficient, factor));
  }
  return rest;
}
