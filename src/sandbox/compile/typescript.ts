/** TypeScript without its types: JavaScript of which every line keeps its number. */
import { HelperManager } from "sucrase/dist/esm/HelperManager.js";
import identifyShadowedGlobals from "sucrase/dist/esm/identifyShadowedGlobals.js";
import NameManager from "sucrase/dist/esm/NameManager.js";
import TokenProcessor from "sucrase/dist/esm/TokenProcessor.js";
import RootTransformer from "sucrase/dist/esm/transformers/RootTransformer.js";
import getTSImportedNames from "sucrase/dist/esm/util/getTSImportedNames.js";
import { CodeError, isStackOverflow, NESTED_TOO_DEEPLY, UnsupportedError } from "./code-error.ts";
import { countLines } from "./locate.ts";
import { readFile, Tokens } from "./tokens.ts";
import { refuseUnsupported } from "./unsupported.ts";

export interface Erased {
  readonly code: string;
  /** Where in the source that is which stands at an offset of the code. */
  toSource(offset: number): number;
}

/** Throws {@link CodeError} for what is no TypeScript, and {@link UnsupportedError} for what could not be kept. */
export function eraseTypes(text: string): Erased {
  const { tokens: read, scopes } = readFile(text);
  const tokens = new Tokens(text, read);
  refuseUnsupported(tokens);
  const nameManager = new NameManager(text, read);
  const helperManager = new HelperManager(nameManager);
  const tokenProcessor = new TokenProcessor(text, read, false, true, helperManager);
  const context = { tokenProcessor, scopes, nameManager, importProcessor: null, helperManager };
  const options = { transforms: ["typescript" as const], disableESTransforms: true };
  try {
    identifyShadowedGlobals(tokenProcessor, scopes, getTSImportedNames(tokenProcessor));
    const { code, mappings } = new RootTransformer(context, options.transforms, false, options).transform();
    return mend(text, tokens, code, mappings);
  } catch (error) {
    if (error instanceof CodeError) throw error;
    // It stumbles where the parser, which forgives much, did not.
    const message = isStackOverflow(error) ? NESTED_TOO_DEEPLY : "Unexpected token";
    throw new CodeError(message, tokens.start(Math.min(tokenProcessor.currentIndex(), tokens.length)));
  }
}

/** Puts back what leaving out types took with it: ends of statements, and line breaks within a token. */
function mend(text: string, tokens: Tokens, code: string, mappings: readonly (number | undefined)[]): Erased {
  const pieces: string[] = [];
  const codeOffsets: number[] = [];
  const sourceOffsets: number[] = [];
  let copied = 0;
  let added = 0;
  for (let index = 0; index < tokens.length; index++) {
    const mapping = mappings[index];
    if (mapping === undefined) continue;
    const missing = findMissing(tokens, index);
    if (missing !== "") {
      pieces.push(code.slice(copied, mapping), missing);
      copied = mapping;
      added += missing.length;
    }
    if (tokens.isType(index)) continue;
    codeOffsets.push(mapping + added);
    sourceOffsets.push(tokens.start(index));
  }
  pieces.push(code.slice(copied));
  const mended = pieces.join("");
  if (countLines(mended) !== countLines(text)) {
    const separator = text.search(/[\u2028\u2029]/);
    throw new UnsupportedError("A line separator like this one must not stand among types", separator);
  }
  const toSource = (offset: number): number => {
    const next = codeOffsets.findIndex((start) => start > offset);
    const index = (next === -1 ? codeOffsets.length : next) - 1;
    const within = offset - (codeOffsets[index] ?? 0);
    const source = (sourceOffsets[index] ?? 0) + within;
    const limit = sourceOffsets[index + 1] ?? text.length;
    return Math.min(source, limit);
  };
  return { code: mended, toSource };
}

/** What must be put where a token stood that is left out: what is left must not grow together. */
function findMissing(tokens: Tokens, index: number): string {
  if (!tokens.isType(index)) return "";
  const within = tokens.breaksBetween(tokens.start(index), tokens.end(index));
  if (tokens.isType(index - 1)) return within;
  return (needsSemicolon(tokens, index) ? ";" : " ") + within;
}

/** What goes on with the statement before it, unless that has ended: TypeScript ends it behind a type. */
const CONTINUES = new Set(["(", "[", "`"]);
/** What goes on with the statement before it also in TypeScript, unless a declaration stood between them. */
const CONTINUES_VALUE = new Set(["+", "-", "/", "*"]);
const DECLARES = new Set(["declare", "interface", "type", "function", "async", "export", "import"]);
/** Names of fields that would be read as words before the name of the next member. */
const MODIFIERS = new Set(["get", "set", "static", "async", "accessor"]);

/** True when types end a statement, or stand for one, and the next token must not be read as a part of it. */
function needsSemicolon(tokens: Tokens, first: number): boolean {
  const after = tokens.endOfTypes(first);
  const [before, next] = [tokens.text(first - 1), tokens.text(after)];
  const opening = tokens.text(findLastStatement(tokens, first, after));
  if (opening === "<" || opening === "this") return false;
  const isDeclaration = DECLARES.has(opening) && !["{", ","].includes(before);
  // A declaration may be all that an `if` or a loop is followed by.
  if (isDeclaration && [")", "else", "do"].includes(before)) return true;
  if (tokens.breaksBetween(tokens.end(first - 1), tokens.start(after)) === "") return false;
  const isField = [":", "?", "!"].includes(opening);
  if (isField && MODIFIERS.has(before)) return !["=", ",", ")", ";", "}"].includes(next);
  return CONTINUES.has(next) || (isDeclaration && (CONTINUES_VALUE.has(next) || next.startsWith("/")));
}

/** Where the last of several declarations begins that follow each other, or the type before them. */
function findLastStatement(tokens: Tokens, first: number, after: number): number {
  let last = first;
  let depth = 0;
  for (let index = first; index < after; index++) {
    const text = tokens.text(index);
    if (depth === 0 && DECLARES.has(text) && tokens.isOnNewLine(index)) last = index;
    if (["(", "[", "{", "<"].includes(text)) depth += 1;
    if ([")", "]", "}", ">"].includes(text)) depth -= 1;
  }
  return last;
}
