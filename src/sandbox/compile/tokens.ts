/** The tokens of TypeScript, and which of them are types: read by sucrase, within bounds. */
/// <reference path="./sucrase.d.ts" />
import { parse } from "sucrase/dist/esm/parser/index.js";
import type { Token } from "sucrase/dist/esm/parser/tokenizer/index.js";
import State from "sucrase/dist/esm/parser/tokenizer/state.js";
import { TokenType } from "sucrase/dist/esm/parser/tokenizer/types.js";
import { initParser, state } from "sucrase/dist/esm/parser/traverser/base.js";
import { CodeError, isStackOverflow, NESTED_TOO_DEEPLY } from "./code-error.ts";
import { LINE_BREAK } from "./locate.ts";

type File = ReturnType<typeof parse>;

/** How much may be read anew, in characters, where the parser tries one meaning after the other. */
const REREAD_FREE = 50_000;
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
  } finally {
    // The parser would keep what it read until it reads something else.
    initParser("", false, true, false);
  }
}

/** As many brackets may be open at once: sucrase reads classes anew for each one around them. */
const MAX_DEPTH = 100;

/** The tokens of one program, with their kinds. */
export class Tokens {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #closings: ReadonlyMap<number, number>;

  /** Throws {@link CodeError} for brackets within too many others. */
  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text;
    this.#tokens = tokens;
    this.#closings = this.#pair();
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

  /** The token that closes what the one at `index` opens, which is itself when that opens nothing. */
  closing(index: number): number {
    return this.#closings.get(index) ?? (OPENING.has(this.text(index)) ? this.length - 1 : index);
  }

  #pair(): ReadonlyMap<number, number> {
    const closings = new Map<number, number>();
    const open: number[] = [];
    for (let index = 0; index < this.length; index++) {
      const text = this.text(index);
      if (OPENING.has(text)) open.push(index);
      if (open.length > MAX_DEPTH) throw new CodeError(NESTED_TOO_DEEPLY, this.start(index));
      const opening = CLOSING.has(text) ? open.pop() : undefined;
      if (opening !== undefined) closings.set(opening, index);
    }
    return closings;
  }
}

const OPENING = new Set(["(", "[", "{", "${"]);
const CLOSING = new Set([")", "]", "}"]);
