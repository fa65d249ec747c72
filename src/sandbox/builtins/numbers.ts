/** Slow numbers: keys that are generated or derived, and conversions between large numbers and strings. */
import { apply, NativeRangeError, toNumber } from "../guard/intrinsics.ts";
import { tooLong } from "./sizes.ts";
import { checkConstruction, checkEach, method, replace } from "./wrap.ts";

/** The limit of the platform in production. */
const MAX_PBKDF2_ITERATIONS = 100_000;
const MAX_RSA_BITS = 2048;
/** The time of a conversion between a BigInt and a string grows faster than its length. */
const MAX_BIGINT_DIGITS = 100_000;
const MAX_BIGINT = 1n << 332_193n;

export function boundNumbers(): void {
  checkConstruction(globalThis, "BigInt", (args) => {
    const text = args[0];
    if (typeof text === "string" && text.length > MAX_BIGINT_DIGITS) throw tooLong();
  });
  checkEach(BigInt.prototype, ["toString", "toLocaleString"], (self) => {
    if (typeof self === "bigint" && (self > MAX_BIGINT || self < -MAX_BIGINT)) throw tooLong();
  });
  limit("deriveBits", "iterations", MAX_PBKDF2_ITERATIONS);
  limit("deriveKey", "iterations", MAX_PBKDF2_ITERATIONS);
  limit("generateKey", "modulusLength", MAX_RSA_BITS);
}

/** The work of `crypto.subtle` is stated in a field of its first argument; a refusal rejects the promise. */
function limit(name: string, field: string, most: number): void {
  replace(SubtleCrypto.prototype, name, (native) =>
    method(async (self, args) => {
      const algorithm = args[0];
      if (typeof algorithm === "object" && algorithm !== null && field in algorithm) {
        const value = toNumber((algorithm as Record<string, unknown>)[field]);
        if (value > most) throw new NativeRangeError(`${field} may be at most ${most}`);
        // A copy, so that the checked value is the one that is used.
        args[0] = { ...algorithm, [field]: value };
      }
      return apply(native, self, args);
    }),
  );
}
