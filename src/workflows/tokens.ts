/** The tokens of TypeScript, and which of them are types: read by sucrase, within bounds. */
import { parse } from "sucrase/dist/esm/parser/index.js";
import type { Token } from "sucrase/dist/esm/parser/tokenizer/index.js";
import State from "sucrase/dist/esm/parser/tokenizer/state.js";
import { TokenType } from "sucrase/dist/esm/parser/tokenizer/types.js";
import { state } from "sucrase/dist/esm/parser/traverser/base.js";
import { CodeError, isStackOverflow, NESTED_TOO_DEEPLY } from "./code-error.ts";
import { LINE_BREAK } from "./locate.ts";

type File = ReturnType<typeof parse>;

/** How much may be read anew, in characters, where the parser tries one meaning after the other. */
const REREAD_FREE = 200_000;
const REREAD_PER_CHARACTER = 4;

class ReadTooOftenError extends Error {}

/** What nested tries may still read anew; each level of them doubles the work. */
let rereadLeft = 0;

const restore = State.prototype.restoreFromSnapshot;
State.prototype.restoreFromSnapshot = function (snapshot) {
  rereadLeft -= this.pos - snapshot.pos;
  if (rereadLeft < 0) throw new ReadTooOftenError();
  restore.call(this, snapshot);
};

const isPositioned = (error: unknown): error is Error & { readonly pos: number } =>
  error instanceof Error && "pos" in error && typeof error.pos === "number";

/** What sucrase reads in a program of TypeScript. Throws {@link CodeError} for what it cannot read. */
export function readFile(text: string): File {
  rereadLeft = REREAD_FREE + REREAD_PER_CHARACTER * text.length;
  try {
    return parse(text, false, true, false);
  } catch (error) {
    if (isPositioned(error)) throw new CodeError(error.message.replace(/ \(\d+:\d+\)$/, ""), error.pos);
    if (error instanceof ReadTooOftenError || isStackOverflow(error)) {
      throw new CodeError(NESTED_TOO_DEEPLY, Math.min(state.pos, text.length));
    }
    // It lost its way, and does not know where.
    throw new CodeError("Unexpected token", 0);
  }
}

/** The tokens of one program, with what tells them apart. */
export class Tokens {
  readonly #text: string;
  readonly #tokens: readonly Token[];

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text;
    this.#tokens = tokens;
  }

  get length(): number {
    return this.#tokens.length;
  }

  start(index: number): number {
    return this.#tokens[index]?.start ?? this.#text.length;
  }

  end(index: number): number {
    return this.#tokens[index]?.end ?? this.#text.length;
  }

  /** What is written there; empty for the text of a template, which could be anything, and outside of the program. */
  text(index: number): string {
    const token = this.#tokens[index];
    return token === undefined || token.type === TokenType.template
      ? ""
      : this.#text.slice(token.start, token.end);
  }

  /** True for a token that says something about types only. */
  isType(index: number): boolean {
    return this.#tokens[index]?.isType ?? false;
  }

  /** The first token behind `first` that is no type. */
  endOfTypes(first: number): number {
    let after = first;
    while (this.isType(after)) after += 1;
    return after;
  }

  isName(index: number): boolean {
    return this.#tokens[index]?.type === TokenType.name;
  }

  isString(index: number): boolean {
    return this.#tokens[index]?.type === TokenType.string;
  }

  isDecorator(index: number): boolean {
    return this.#tokens[index]?.type === TokenType.at;
  }

  /** True when the token begins on a later line than the one before it ends. */
  isOnNewLine(index: number): boolean {
    return this.breaksBetween(this.end(index - 1), this.start(index)) !== "";
  }

  /** The line breaks between two offsets. */
  breaksBetween(start: number, end: number): string {
    return (this.#text.slice(start, end).match(LINE_BREAK) ?? []).join("");
  }

  /** The token that closes what the one at `index` opens; the last token when nothing does. */
  closing(index: number): number {
    let depth = 0;
    for (let at = index; at < this.length; at++) {
      const text = this.text(at);
      if (OPENING.has(text)) depth += 1;
      if (CLOSING.has(text)) depth -= 1;
      if (depth === 0) return at;
    }
    return this.length - 1;
  }
}

const OPENING = new Set(["(", "[", "{", "${"]);
const CLOSING = new Set([")", "]", "}"]);
