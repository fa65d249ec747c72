/** Bugs in users and their tokens. */
import type { Mutant } from "./mutant.ts";

export const USERS: readonly Mutant[] = [
  {
    bug: "a token is accepted in several spellings",
    file: "src/users/tokens.ts",
    code: "token.length > MAX_TOKEN_LENGTH || !isCanonical(token)",
    by: "token.length > MAX_TOKEN_LENGTH",
    tests: ["test/users/tokens.test.ts"],
  },
];
