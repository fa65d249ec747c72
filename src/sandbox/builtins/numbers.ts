/** Numbers that take long: keys that are made or derived, and large ones on their way to and from texts. */
import { apply, NativeRangeError, toNumber } from "../guard/intrinsics.ts";
import { tooLong } from "./sizes.ts";
import { checkConstruction, checkEach, method, replace } from "./wrap.ts";

/** As production has it. */
const MAX_PBKDF2_ITERATIONS = 100_000;
const MAX_RSA_BITS = 2048;
/** To and from texts they are brought in a time that grows faster than they do. */
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

/** What is asked of `crypto.subtle` stands in a field of its first argument; a refusal is a promise's. */
function limit(name: string, field: string, most: number): void {
  replace(SubtleCrypto.prototype, name, (native) =>
    method(async (self, args) => {
      const algorithm = args[0];
      if (typeof algorithm === "object" && algorithm !== null && field in algorithm) {
        const value = toNumber((algorithm as Record<string, unknown>)[field]);
        if (value > most) throw new NativeRangeError(`${field} may be at most ${most}`);
        // A copy, so that what is checked is what is used.
        args[0] = { ...algorithm, [field]: value };
      }
      return apply(native, self, args);
    }),
  );
}
