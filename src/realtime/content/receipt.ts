/** Tells a request that is sent again from another one under the same id. */
import type { ClientMessage } from "../protocol/messages.ts";

/**
 * A name for what a request asks, 53 bits of hash and its length. The sender alone could make two collide,
 * and would only deceive itself: receipts are kept by user.
 */
export function fingerprintOf(request: {
  readonly type: string;
  readonly data?: ClientMessage["data"];
}): string {
  const text = JSON.stringify([request.type, request.data]);
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return `${text.length.toString(36)}-${(4294967296 * (0x1fffff & low) + (high >>> 0)).toString(36)}`;
}
