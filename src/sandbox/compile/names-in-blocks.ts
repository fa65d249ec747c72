/** Names in nested blocks: the parser notes each `var` once for every block around it, up to its function. */
import { CodeError } from "./code-error.ts";
import { type Node, parseDraft, partsOf, startOf } from "./syntax.ts";

/** How many notes the parser may make, at about a microsecond each; programs that people write need a third at most. */
const MAX_NOTES = 1_000_000;

/** What may open a scope, what may be a name, and what may declare one, in code or not. */
const SCOPES = /\{|\bfor\b/g;
const NAMES = /[\w$\\\u0080-\uFFFF]+/g;
const VAR = /\bvar\b/g;

/** Nodes that end the scope of a `var`, and nodes that make it one deeper. */
const FUNCTION = /Function|Method|^StaticBlock$/;
const SCOPE = /^(BlockStatement|For\w*Statement|SwitchStatement|CatchClause|TSModuleBlock)$/;

/**
 * Throws {@link CodeError} when the parser would take too long to note the variables of a program. Where that is
 * possible at all, it first reads the program with `let` for `var`: those it notes once.
 */
export function checkNamesInBlocks(text: string): void {
  const mayTakeLong = text.includes("var") && count(text, SCOPES) * count(text, NAMES) > MAX_NOTES;
  if (mayTakeLong) countNotes(parseDraft(text.replace(VAR, "let")));
}

/** Counts every name, for a draft does not tell each variable from other names. */
function countNotes(program: Node): void {
  let notes = 0;
  const waiting: { readonly node: Node; readonly depth: number }[] = [{ node: program, depth: 1 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, depth } = next;
    if (node.type === "Identifier") notes += depth;
    if (notes > MAX_NOTES) {
      throw new CodeError(
        "Too many names stand in nested blocks; nest less, or use functions",
        startOf(node),
      );
    }
    for (const part of partsOf(node)) waiting.push({ node: part, depth: depthOf(part, depth) });
  }
}

function depthOf({ type }: Node, around: number): number {
  if (FUNCTION.test(type)) return 1;
  return SCOPE.test(type) ? around + 1 : around;
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
