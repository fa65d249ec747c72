/** Inserts calls of the guard into a module: every loop and every function reports to it. */
import type {
  AnyNode,
  BlockStatement,
  Expression,
  ImportExpression,
  Program,
  Statement,
  StaticBlock,
} from "acorn";
import { Edits } from "./edits.ts";
import { walk } from "./syntax.ts";

/** By these a BigInt becomes as long as their right side says. */
const GROWING: ReadonlySet<string> = new Set(["<<", "**", "<<=", "**="]);

/** The guard's names in a module, which occur nowhere else in it. */
interface GuardNames {
  /** Is called first in every body of a loop or a function, and before what a class evaluates. */
  readonly tick: string;
  /** Is given what the language takes apart or grows by at one stroke, and gives it back. */
  readonly spread: string;
}

export const NOTHING_TO_IMPORT = "a workflow is one module and can import nothing";

/** There are more such names than a program could hold. */
const NAME = /\$[0-9a-z]{4}/g;

/** Names that the code neither holds nor spells otherwise: an identifier may be written with escapes. */
function chooseNames(program: Program, code: string): GuardNames {
  const used = new Set([...code.matchAll(NAME)].map(([name]) => name));
  walk(program, (node) => {
    if (node.type === "Identifier") used.add(node.name);
  });
  const free: string[] = [];
  for (let number = 0; free.length < 2; number++) {
    const name = `$${number.toString(36).padStart(4, "0")}`;
    if (!used.has(name)) free.push(name);
  }
  const [tick = "", spread = ""] = free;
  return { tick, spread };
}

/** Makes the noted changes to the tree of one module. */
class Instrumenter {
  readonly #edits: Edits;
  readonly #names: GuardNames;

  constructor(edits: Edits, names: GuardNames) {
    this.#edits = edits;
    this.#names = names;
  }

  instrument(node: AnyNode): void {
    switch (node.type) {
      case "ForInStatement":
        this.#guard(node.right);
        this.#tickIn(node.body);
        break;
      case "ForStatement":
      case "ForOfStatement":
      case "WhileStatement":
      case "DoWhileStatement":
        this.#tickIn(node.body);
        break;
      case "FunctionDeclaration":
      case "FunctionExpression":
        this.#tickFirst(node.body);
        break;
      case "ArrowFunctionExpression":
        if (node.body.type === "BlockStatement") this.#tickFirst(node.body);
        else this.#tickBefore(node.body);
        break;
      case "StaticBlock":
        this.#tickInStaticBlock(node);
        break;
      case "ClassDeclaration":
      case "ClassExpression":
        if (node.superClass) this.#tickBefore(node.superClass);
        break;
      case "MethodDefinition":
        if (node.computed && node.key.type !== "PrivateIdentifier") this.#tickBefore(node.key);
        break;
      case "PropertyDefinition":
        if (node.computed && node.key.type !== "PrivateIdentifier") this.#tickBefore(node.key);
        if (node.value && !takesName(node.value)) this.#tickBefore(node.value);
        break;
      case "ArrayExpression":
        this.#guardSpreads(node.elements);
        break;
      case "ObjectExpression":
        this.#guardSpreads(node.properties);
        break;
      case "BinaryExpression":
      case "AssignmentExpression":
        if (GROWING.has(node.operator)) this.#guard(node.right);
        break;
      case "CallExpression":
      case "NewExpression":
        this.#guardSpreads(node.arguments);
        break;
      case "ImportExpression":
        this.#refuseImport(node);
        break;
      case "MetaProperty":
        // What it holds would differ from one place to run to the next.
        if (node.meta.name === "import") this.#edits.replace(node.start, node.end, "Object()");
        break;
    }
  }

  #tickFirst({ start, body }: BlockStatement): void {
    const directive = body.findLast((statement) => "directive" in statement && statement.directive);
    if (directive) this.#edits.insert(directive.end, `;${this.#names.tick}();`);
    else this.#edits.insert(start + 1, `${this.#names.tick}();`);
  }

  #tickIn(body: Statement): void {
    if (body.type === "BlockStatement") this.#tickFirst(body);
    else this.#edits.wrap(body.start, body.end, `{${this.#names.tick}();`, "}");
  }

  #tickInStaticBlock({ body: [first] }: StaticBlock): void {
    if (first) this.#edits.insert(first.start, `${this.#names.tick}();`);
  }

  #tickBefore({ start, end }: Expression): void {
    this.#edits.wrap(start, end, `(${this.#names.tick}(),`, ")");
  }

  /** A sequence stays one argument. */
  #guard({ start, end }: Expression): void {
    this.#edits.wrap(start, end, `${this.#names.spread}((`, "))");
  }

  #guardSpreads(elements: readonly (AnyNode | null)[]): void {
    for (const element of elements) {
      if (element?.type !== "SpreadElement") continue;
      // Behind the dots: before the operand, parentheses may stand that belong to it.
      this.#edits.wrap(element.start + "...".length, element.end, `${this.#names.spread}(`, ")");
    }
  }

  /** An import is a promise, and this one's is broken. */
  #refuseImport({ start, source }: ImportExpression): void {
    this.#edits.replace(start, start + "import".length, "Promise.reject");
    const because = `)+"\\": ${NOTHING_TO_IMPORT}")`;
    this.#edits.wrap(source.start, source.end, 'new TypeError("Cannot find module \\""+(', because);
  }
}

/** True for what is named after the field that it is the value of; it does nothing that could take long. */
const takesName = ({ type }: Expression): boolean =>
  type === "ArrowFunctionExpression" || type === "FunctionExpression" || type === "ClassExpression";

/** The module with the guard in it. No line changes its number. */
export function instrument(program: Program, code: string): string {
  const names = chooseNames(program, code);
  const edits = new Edits();
  const instrumenter = new Instrumenter(edits, names);
  walk(program, (node) => instrumenter.instrument(node));
  const { tick, spread } = names;
  return `${edits.apply(code)}\n;import { tick as ${tick}, spread as ${spread} } from "./guard.js";\n`;
}

/** What a module imports first. */
export interface ImportedModule {
  readonly name: string;
  readonly offset: number;
}

function nameOfImport(node: AnyNode): string | null {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
      return String(node.source.value);
    case "ExportNamedDeclaration":
      return node.source ? String(node.source.value) : null;
    case "ImportExpression":
      return literalOf(node.source);
    default:
      return null;
  }
}

function literalOf(source: Expression): string | null {
  if (source.type === "Literal") return String(source.value);
  return source.type === "TemplateLiteral" && source.expressions.length === 0
    ? (source.quasis[0]?.value.cooked ?? null)
    : null;
}

/** The first import that names a module, wherever it stands; null when there is none. */
export function findImport(program: Program): ImportedModule | null {
  const imports: ImportedModule[] = [];
  walk(program, (node) => {
    const name = nameOfImport(node);
    if (name !== null) imports.push({ name, offset: node.start });
  });
  return imports.sort((a, b) => a.offset - b.offset)[0] ?? null;
}
