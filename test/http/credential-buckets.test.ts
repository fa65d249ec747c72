/** Requests of one credential beside those of others, in one isolate. */
import { describe, expect, it } from "vitest";
import { CredentialBuckets } from "../../src/http/authenticate.ts";

const waits = (buckets: CredentialBuckets, count: number, credential: string, now: number) =>
  Array.from({ length: count }, () => buckets.waitMs(credential, now));

describe("a credential that sends 700 requests at once", () => {
  it("waits for none of them while it has the isolate for itself", () => {
    const buckets = new CredentialBuckets();
    expect(new Set(waits(buckets, 700, "a", 0))).toEqual(new Set([0]));
    expect(buckets.waitMs("b", 0)).toBe(0);
    expect(buckets.waitMs("a", 0)).toBe(1); // it owes nothing
  });

  it("has a hundred in each second, and is refused what would wait for more than five, beside another one", () => {
    const buckets = new CredentialBuckets();
    waits(buckets, 1, "b", 0);
    const ofMany = waits(buckets, 700, "a", 0);
    expect(ofMany.slice(0, 100)).toEqual(Array<number>(100).fill(0));
    expect([ofMany[200], ofMany[300], ofMany[599]]).toEqual([1_001, 2_001, 4_991]);
    expect(ofMany.slice(601)).toEqual(Array<null>(99).fill(null));
    expect(buckets.waitMs("b", 0)).toBe(0);
    expect(waits(buckets, 50, "b", 500)).toEqual(Array<number>(50).fill(0));
  });

  it("is alone again a second after the other one's last request", () => {
    const buckets = new CredentialBuckets();
    waits(buckets, 1, "b", 0);
    waits(buckets, 200, "a", 0);
    expect(buckets.waitMs("a", 500)).toBeGreaterThan(0);
    expect(buckets.waitMs("a", 1_000)).toBe(0);
  });
});
