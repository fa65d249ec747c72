/** TypeScript without its types: JavaScript in which everything keeps its place. */
import { CodeError } from "./code-error.ts";
import { checkExportLists } from "./export-lists.ts";
import { checkNamesInBlocks } from "./names-in-blocks.ts";
import { nodesOf, type Outline, outlineOf, type Program, parseProgram } from "./syntax.ts";
import { TypeEraser } from "./type-eraser.ts";

export interface Erased {
  readonly code: string;
  readonly program: Program;
}

/**
 * Erases what TypeScript calls erasable syntax. Throws {@link CodeError} for text that is no TypeScript or takes too
 * long to parse, for what TypeScript has beyond that syntax, and where types are all that keeps apart what would mean
 * something else together.
 */
export function eraseTypes(text: string): Erased {
  checkExportLists(text);
  checkNamesInBlocks(text);
  const typed = parseProgram(text, "typescript");
  const eraser = new TypeEraser(text, typed);
  const code = eraser.erase();
  const program = parseProgram(code, "javascript");
  const misread = findDifference(eraser.outline, outlineOf(nodesOf(program)));
  if (misread !== null) {
    throw new CodeError("Without its types this means something else; put it in parentheses", misread);
  }
  return { code, program };
}

/** Where the first node is that only one of two programs has; null when they have the same. */
function findDifference(typed: Outline, plain: Outline): number | null {
  const [before, after] = [typed.toSorted(compare), plain.toSorted(compare)];
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    const [a, b] = [before[index], after[index]];
    if (a?.type !== b?.type || a?.start !== b?.start) {
      return Math.min(...[a, b].map((node) => node?.start ?? Number.POSITIVE_INFINITY));
    }
  }
  return null;
}

const compare = (a: Outline[number], b: Outline[number]): number =>
  a.start - b.start || Number(a.type > b.type) - Number(a.type < b.type);
