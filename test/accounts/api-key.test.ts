/** API keys: their shape, their checksum and their stored fingerprint. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createApiKey, fingerprintOf, isApiKey } from "../../src/features/accounts/api-key.ts";

const randomBytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("an API key", () => {
  it("has a fixed shape and a checksum for any random bits", () => {
    fc.assert(
      fc.property(randomBytes, (bytes) => {
        const key = createApiKey(bytes);
        expect(key).toMatch(/^atrium_sk_[0-9A-Za-z]{49}$/);
        expect(isApiKey(key)).toBe(true);
      }),
    );
  });

  it("differs for different random bits", () => {
    fc.assert(
      fc.property(randomBytes, randomBytes, (a, b) => {
        fc.pre(a.some((byte, i) => byte !== b[i]));
        expect(createApiKey(a)).not.toBe(createApiKey(b));
      }),
    );
    expect(createApiKey()).not.toBe(createApiKey());
  });

  it("differs from a key with a typo by its checksum", () => {
    const key = createApiKey();
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, char) => {
        fc.pre(key[at] !== char);
        expect(isApiKey(key.slice(0, at) + char + key.slice(at + 1))).toBe(false);
      }),
    );
    for (const other of ["", key.slice(1), `${key}0`, key.toUpperCase()]) expect(isApiKey(other)).toBe(false);
  });

  it("is stored as a hash that shows its first and last characters only", async () => {
    const key = createApiKey(new Uint8Array(32));
    const stored = await fingerprintOf(key);
    expect(stored).toEqual({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      prefix: "atrium_sk_0000",
      lastFour: key.slice(-4),
    });
    expect(JSON.stringify(stored)).not.toContain(key.slice(14, -4));
  });
});
