/** The regular expressions of a program: the parser takes any pattern, and the runtime refuses the whole program for one. */
import { CodeError } from "./code-error.ts";
import { type Program, startOf, walk } from "./syntax.ts";

/** Throws {@link CodeError} for a pattern that is none. */
export function checkPatterns(program: Program): void {
  walk(program, (node) => {
    if (node.type !== "RegExpLiteral") return true;
    try {
      new RegExp(node.pattern, node.flags);
    } catch (error) {
      throw new CodeError(
        error instanceof Error ? error.message : "Invalid regular expression",
        startOf(node),
      );
    }
    return true;
  });
}
