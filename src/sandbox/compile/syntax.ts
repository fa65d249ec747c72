/** Programs as trees: parsed by Babel, and walked without recursion. */

import { type ParserOptions, parse } from "@babel/parser";
import type * as babel from "@babel/types";

/** Programs that people write are read up to four times; a second is enough for 256 KiB. */
const READS_PER_UNIT = 16;
const READS_OF_ANY_TEXT = 500_000;

const TOO_HARD = "The code takes too long to read here; nest casts and arrow functions less";

/**
 * Counts its units as they are read. Throws {@link CodeError} at the unit that is one too many: a count is the same on
 * every machine, and an isolate of the platform has no clock that goes on while it computes.
 */
class BoundedText extends String {
  readonly #text: string;
  #left: number;

  constructor(text: string) {
    super(text);
    this.#text = text;
    this.#left = READS_OF_ANY_TEXT + READS_PER_UNIT * text.length;
  }

  override charCodeAt(index: number): number {
    this.#left -= 1;
    if (this.#left < 0) throw new CodeError(TOO_HARD, index);
    return this.#text.charCodeAt(index);
  }
}

/** The text for a parser that reads it by `charCodeAt`, and uses it as any other string. */
const boundReads = (text: string): string => new BoundedText(text) as unknown as string;

export type Node = babel.Node;
export type Program = babel.Program;

type Language = "javascript" | "typescript";

const OPTIONS: ParserOptions = {
  sourceType: "module",
  attachComment: false,
  createImportExpressions: true,
  createParenthesizedExpressions: true,
};
/** Parsed to be refused by name: decorators and `accessor` are no JavaScript yet. */
const PLUGINS: Record<Language, NonNullable<ParserOptions["plugins"]>> = {
  javascript: [],
  typescript: ["typescript", "decorators", "decoratorAutoAccessors"],
};

/** The tree of a module. Throws {@link CodeError} for text that is none, or that would take too long to parse. */
export const parseProgram = (text: string, language: Language): Program =>
  parseText(text, { ...OPTIONS, plugins: PLUGINS[language] });

/** The tree of a module of TypeScript, in which many errors count for nothing. Throws as {@link parseProgram} does. */
export const parseDraft = (text: string): Program =>
  parseText(text, { ...OPTIONS, plugins: PLUGINS.typescript, errorRecovery: true });

function parseText(text: string, options: ParserOptions): Program {
  try {
    const { program } = parse(boundReads(text), options);
    if (program.body.every(isNode)) return program;
  } catch (error) {
    if (error instanceof CodeError) throw error;
    if (error instanceof SyntaxError && "pos" in error && typeof error.pos === "number") {
      throw new CodeError(error.message.replace(/\.? \(\d+:\d+\)$/, ""), error.pos);
    }
    const isStackOverflow = error instanceof RangeError && /\bstack\b/i.test(error.message);
    if (isStackOverflow) throw new CodeError("The code is nested too deeply", 0);
  }
  // The parser stumbled over broken code without an error of its own, or left a hole, and does not say where.
  throw new CodeError("Unexpected token", 0);
}

/** The parser gives every node its place; its types say that other tools may not. */
export const startOf = (node: Node): number => node.start ?? 0;
export const endOf = (node: Node): number => node.end ?? 0;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;

/** Visits every node, each before its parts, and these in no order; no parts of a node for which `visit` gives false. */
export function walk(root: Node, visit: (node: Node) => unknown): void {
  const waiting: Node[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (visit(node) === false) continue;
    for (const part of partsOf(node)) waiting.push(part);
  }
}

export function* partsOf(node: Node): Generator<Node> {
  for (const part of Object.values(node)) {
    for (const inner of Array.isArray(part) ? part : [part]) if (isNode(inner)) yield inner;
  }
}

/** The nodes of a program, and their positions. */
export type Outline = readonly { readonly type: string; readonly start: number }[];

/**
 * The outline of some nodes, whose places may be moved; the program and empty statements do not count. The text of a
 * template stays where it is, though it may begin with a space.
 */
export const outlineOf = (nodes: readonly Node[], place = (start: number): number => start): Outline =>
  nodes
    .filter(({ type }) => type !== "Program" && type !== "EmptyStatement")
    .map((node) => ({
      type: node.type,
      start: node.type === "TemplateElement" ? startOf(node) : place(startOf(node)),
    }));

export function nodesOf(program: Program): readonly Node[] {
  const nodes: Node[] = [];
  walk(program, (node) => nodes.push(node));
  return nodes;
}

export class CodeError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
