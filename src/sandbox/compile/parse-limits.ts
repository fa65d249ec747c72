/** Refuses programs whose export lists or nested blocks would keep the parser busy. */
import { CodeError, type Node, parseDraft, partsOf, startOf } from "./syntax.ts";

/**
 * Limit of comparisons, which take some ten nanoseconds each. 256 KiB of code may end with a list of 380 names;
 * shorter code with more.
 */
const MAX_COMPARISONS = 50_000_000;
/** The fewest characters that open a scope. */
const SCOPE_LENGTH = 2;

const EXPORT = "export";
const SPACE = /\s+/y;
const WORD = /[\w$\\\u0080-\uFFFF]+/y;
const STRING = /"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y;
const LINE_END = /[\n\r\u2028\u2029]/g;
const BLOCK_END = /\*\//g;

/**
 * Throws {@link CodeError} when the parser would take too long to look up exported names. Only the text of each
 * list is read, without parsing the code around it; one in a comment or a string counts, too.
 */
export function checkExportLists(text: string): void {
  const reader = new ListReader(text);
  let comparisons = 0;
  for (let at = text.indexOf(EXPORT); at >= 0; at = text.indexOf(EXPORT, at + EXPORT.length)) {
    comparisons += reader.countNames(at + EXPORT.length) * (at / SCOPE_LENGTH);
    if (comparisons > MAX_COMPARISONS) {
      throw new CodeError("Too many names are exported in lists; export them where they are declared", at);
    }
  }
}

/** Reads the possible content of a list: words, strings, commas, space and comments. */
class ListReader {
  readonly #text: string;
  #at = 0;
  /** Begin and end of the latest comment of each kind: a comment inside of it ends there, too. */
  readonly #line = { start: 0, end: -1 };
  readonly #block = { start: 0, end: -1 };

  constructor(text: string) {
    this.#text = text;
  }

  /** The number of names in the list that begins at `start`, behind `export`; 0 when there is none. */
  countNames(start: number): number {
    this.#at = start;
    this.#skip();
    if (this.#text.startsWith("type", this.#at)) {
      this.#at += "type".length;
      this.#skip();
    }
    if (this.#text[this.#at] !== "{") return 0;
    this.#at += 1;
    let names = 1;
    for (;;) {
      this.#skip();
      if (this.#text[this.#at] === ",") {
        names += 1;
        this.#at += 1;
      } else if (!this.#take(WORD) && !this.#take(STRING)) return names;
    }
  }

  #skip(): void {
    while (
      this.#take(SPACE) ||
      this.#takeComment("//", LINE_END, this.#line) ||
      this.#takeComment("/*", BLOCK_END, this.#block)
    );
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #takeComment(opening: string, ending: RegExp, latest: { start: number; end: number }): boolean {
    if (!this.#text.startsWith(opening, this.#at)) return false;
    const from = this.#at + opening.length;
    if (from < latest.start || from > latest.end) {
      ending.lastIndex = from;
      Object.assign(latest, {
        start: from,
        end: ending.test(this.#text) ? ending.lastIndex : this.#text.length,
      });
    }
    this.#at = latest.end;
    return true;
  }
}

/** The notes that the parser may make, at about a microsecond each; programs of people need a third at most. */
const MAX_NOTES = 1_000_000;

/** Possible scopes, names and declarations, in code or not. */
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
