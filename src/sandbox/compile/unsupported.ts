/** What TypeScript has beyond types and this compiler does not keep: it is refused by name, never dropped. */
import { UnsupportedError } from "./code-error.ts";
import { Enums } from "./enums.ts";
import type { Tokens } from "./tokens.ts";

const BINDS_TIGHTLY = new Set(["*", "/", "%", "**"]);

/** Throws {@link UnsupportedError} for the first of them. */
export function refuseUnsupported(tokens: Tokens): void {
  const enums = new Enums(tokens);
  for (let index = 0; index < tokens.length; index++) {
    const what = findUnsupported(tokens, index);
    if (what !== null) throw new UnsupportedError(what, tokens.start(index));
    if (isAmbientScope(tokens, index)) index = skipAmbientScope(tokens, index);
    else if (tokens.text(index) === "enum" && !tokens.isType(index)) enums.check(index);
  }
}

/** `declare namespace`, `declare module` and `declare global` hold nothing but types. */
function isAmbientScope(tokens: Tokens, index: number): boolean {
  const isDeclare = tokens.isType(index) && tokens.text(index) === "declare";
  return isDeclare && ["namespace", "module", "global"].includes(tokens.text(index + 1));
}

function skipAmbientScope(tokens: Tokens, index: number): number {
  let at = index + 1;
  while (at < tokens.length && tokens.isType(at) && ![";", "{"].includes(tokens.text(at))) at += 1;
  return tokens.text(at) === "{" ? tokens.closing(at) : index;
}

function findUnsupported(tokens: Tokens, index: number): string | null {
  const [text, next, afterNext] = [0, 1, 2].map((distance) => tokens.text(index + distance));
  if (tokens.isDecorator(index)) return "Decorators are not supported";
  if (text === "import" && tokens.isName(index + 1) && afterNext === "=" && !tokens.isType(index)) {
    return "`import … =` is not supported";
  }
  if (text === "export" && next === "=") return "`export =` is not supported; use `export default`";
  if (text === "export" && next === "import") return "`export import` is not supported";
  if (text === "export" && next === "as" && afterNext === "namespace") {
    return "`export as namespace` is not supported";
  }
  if (text === "const" && next === "enum" && tokens.text(index - 1) === "declare") {
    return "`declare const enum` is not supported: nothing gives its values";
  }
  if (isNamespace(tokens, index)) {
    return `Namespaces are not supported; for types alone, write \`declare ${text}\``;
  }
  if (isAccessor(tokens, index)) return "`accessor` fields are not supported";
  if (text === "constructor" && next === "(" && !canSetProperties(tokens, index)) {
    return "A constructor with parameter properties must call `super(…)` once, as a statement of its own";
  }
  return tokens.isType(index) && !tokens.isType(index - 1) ? findMisread(tokens, index) : null;
}

function isNamespace(tokens: Tokens, index: number): boolean {
  const isKeyword = tokens.isType(index) && ["namespace", "module"].includes(tokens.text(index));
  const isNamed = tokens.isName(index + 1) || tokens.isString(index + 1);
  return (
    isKeyword && isNamed && !tokens.isOnNewLine(index + 1) && ["{", "."].includes(tokens.text(index + 2))
  );
}

function isAccessor(tokens: Tokens, index: number): boolean {
  if (tokens.text(index) !== "accessor" || tokens.isType(index + 1) || tokens.isOnNewLine(index + 1))
    return false;
  const isOperator = ["as", "satisfies", "of"].includes(tokens.text(index + 1));
  return (tokens.isName(index + 1) && !isOperator) || tokens.text(index + 1) === "#";
}

const PROPERTY_MODIFIERS = new Set(["public", "private", "protected", "readonly", "override"]);
const BRANCHES = new Set(["if", "else", "for", "while", "do", "?", ":", "&&", "||", "??", "=>"]);

/** True unless parameters are to become properties at a point that depends on the way through the constructor. */
function canSetProperties(tokens: Tokens, keyword: number): boolean {
  const close = tokens.closing(keyword + 1);
  if (!hasProperties(tokens, keyword + 2, close) || tokens.text(close + 1) !== "{") return true;
  const calls = findSuperCalls(tokens, close + 2, tokens.closing(close + 1));
  const [call] = calls;
  return call === undefined || (calls.length === 1 && isStatement(tokens, close + 2, call));
}

function hasProperties(tokens: Tokens, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const isFirst = index === start || tokens.text(index - 1) === ",";
    if (isFirst && PROPERTY_MODIFIERS.has(tokens.text(index))) return true;
    index = tokens.closing(index);
  }
  return false;
}

function findSuperCalls(tokens: Tokens, start: number, end: number): readonly number[] {
  const calls: number[] = [];
  for (let index = start; index < end; index++) {
    if (tokens.text(index + 1) !== "(") continue;
    if (tokens.text(index) === "super") calls.push(index);
    // That of another class has calls of its own.
    if (tokens.text(index) === "constructor") index = tokens.closing(tokens.closing(index + 1) + 1);
  }
  return calls;
}

/** True when nothing in the statement of a block that holds the token decides whether it is reached. */
function isStatement(tokens: Tokens, start: number, target: number): boolean {
  let isBranch = false;
  for (let index = start; index < target; index++) {
    const text = tokens.text(index);
    if (BRANCHES.has(text)) isBranch = true;
    if (text === ";" || text === "{") isBranch = false;
    index = tokens.closing(index);
    if (index > target) return false;
  }
  return !isBranch;
}

/** Types without which what stands around them would mean something else. */
function findMisread(tokens: Tokens, first: number): string | null {
  const after = tokens.endOfTypes(first);
  const before = tokens.text(first - 1);
  const [opening, next] = [tokens.text(first), tokens.text(after)];
  const isBroken = tokens.breaksBetween(tokens.end(first - 1), tokens.start(after)) !== "";
  if (opening === "<" && isBroken && (before === "return" || before === "yield")) {
    return `A type between \`${before}\` and its value must stand on their line`;
  }
  if (opening === "<" && before === "=>" && next === "{") {
    return "An object with a type before it must stand in parentheses: `=> (<T>{ … })`";
  }
  if ((opening === "as" || opening === "satisfies") && BINDS_TIGHTLY.has(next)) {
    return `A value with \`${opening}\` must stand in parentheses before \`${next}\``;
  }
  return null;
}
