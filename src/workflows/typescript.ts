/** TypeScript without its types: JavaScript of which every line keeps its number. */
import { HelperManager } from "sucrase/dist/esm/HelperManager.js";
import identifyShadowedGlobals from "sucrase/dist/esm/identifyShadowedGlobals.js";
import NameManager from "sucrase/dist/esm/NameManager.js";
import TokenProcessor from "sucrase/dist/esm/TokenProcessor.js";
import RootTransformer from "sucrase/dist/esm/transformers/RootTransformer.js";
import getTSImportedNames from "sucrase/dist/esm/util/getTSImportedNames.js";
import { UnsupportedError } from "./code-error.ts";
import { countLines } from "./locate.ts";
import { readFile, Tokens } from "./tokens.ts";
import { refuseUnsupported } from "./unsupported.ts";

export interface Erased {
  readonly code: string;
  /** Where in the source that is which stands at an offset of the code. */
  toSource(offset: number): number;
}

/** Throws CodeError for what is no TypeScript, and {@link UnsupportedError} for what could not be kept. */
export function eraseTypes(text: string): Erased {
  const { tokens: read, scopes } = readFile(text);
  const tokens = new Tokens(text, read);
  refuseUnsupported(tokens);
  const nameManager = new NameManager(text, read);
  const helperManager = new HelperManager(nameManager);
  const tokenProcessor = new TokenProcessor(text, read, false, true, helperManager);
  identifyShadowedGlobals(tokenProcessor, scopes, getTSImportedNames(tokenProcessor));
  const context = { tokenProcessor, scopes, nameManager, importProcessor: null, helperManager };
  const options = { transforms: ["typescript" as const], disableESTransforms: true };
  const { code, mappings } = new RootTransformer(context, options.transforms, false, options).transform();
  return mend(text, tokens, code, mappings);
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
    throw new UnsupportedError("A line of this program is lost with its types", 0);
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

/** What must be put where a token stood that is left out. */
function findMissing(tokens: Tokens, index: number): string {
  if (!tokens.isType(index)) return "";
  const within = tokens.breaksBetween(tokens.start(index), tokens.end(index));
  const isFirst = !tokens.isType(index - 1);
  return isFirst && needsSemicolon(tokens, index) ? `;${within}` : within;
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
  let after = first;
  while (tokens.isType(after)) after += 1;
  const [before, opening, next] = [tokens.text(first - 1), tokens.text(first), tokens.text(after)];
  if (opening === "<" || opening === "this") return false;
  const isDeclaration = DECLARES.has(opening) && !["{", ","].includes(before);
  // A declaration may be all that an `if` or a loop is followed by.
  if (isDeclaration && [")", "else", "do"].includes(before)) return true;
  if (tokens.breaksBetween(tokens.end(first - 1), tokens.start(after)) === "") return false;
  const isField = [":", "?", "!"].includes(opening);
  if (isField && MODIFIERS.has(before)) return !["=", ",", ")", ";", "}"].includes(next);
  return CONTINUES.has(next) || (isDeclaration && (CONTINUES_VALUE.has(next) || next.startsWith("/")));
}
