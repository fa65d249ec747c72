/** Compares secrets without revealing by the time it takes where they differ. */
import { timingSafeEqual } from "node:crypto";

const encoder = new TextEncoder();

/** Compares two texts in a time that depends on their length alone. */
export function equalInConstantTime(a: string, b: string): boolean {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}
