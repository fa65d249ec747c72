/** JavaScript as a tree: parsed within bounds, and walked without recursion. */
import { type AnyNode, type Options, Parser, type Program } from "acorn";
import { CodeError, isStackOverflow, NESTED_TOO_DEEPLY } from "./code-error.ts";

/** How often a name may be noted in a scope, before a program is refused that would take the memory of others. */
const MAX_NOTED_NAMES = 300_000;

const OPTIONS: Options = { ecmaVersion: "latest", sourceType: "module", allowHashBang: false };

/** The names of a scope. The parser looks for each new one in them, which an array alone makes slow. */
class Names extends Array<string> {
  readonly #known = new Set<string>();

  override push(...names: string[]): number {
    for (const name of names) this.#known.add(name);
    return super.push(...names);
  }

  /** 0 for a name that is there: the parser asks no more than whether it is. */
  override indexOf(name: string): number {
    return this.#known.has(name) ? 0 : -1;
  }
}

/** What acorn's plugins may override of its parser, beyond the types that it publishes. */
interface ParserInside {
  readonly scopeStack: { var: string[]; lexical: string[]; functions: string[] }[];
  enterScope(flags: number): void;
  declareName(name: string, binding: number, offset: number): void;
}

type Extensible = new (options: Options, input: string) => Parser & ParserInside;

const asExtensible = (base: typeof Parser) => base as unknown as Extensible;
const asParser = (extended: Extensible) => extended as unknown as typeof Parser;

const BoundedParser = Parser.extend((base) =>
  asParser(
    class extends asExtensible(base) {
      #notedNames = 0;

      override enterScope(flags: number): void {
        super.enterScope(flags);
        const scope = this.scopeStack.at(-1);
        if (scope) Object.assign(scope, { var: new Names(), lexical: new Names(), functions: new Names() });
      }

      override declareName(name: string, binding: number, offset: number): void {
        // A `var` is noted in each block around it.
        this.#notedNames += this.scopeStack.length;
        if (this.#notedNames > MAX_NOTED_NAMES) {
          throw new CodeError("The code declares too many variables", offset);
        }
        super.declareName(name, binding, offset);
      }
    },
  ),
);

/** The tree of a module. Throws {@link CodeError} for what is none. */
export function parseModule(code: string): Program {
  try {
    return BoundedParser.parse(code, OPTIONS);
  } catch (error) {
    if (error instanceof SyntaxError && "pos" in error && typeof error.pos === "number") {
      const isTooDeep = error.message.startsWith("Not enough stack");
      const message = isTooDeep ? NESTED_TOO_DEEPLY : error.message.replace(/ \(\d+:\d+\)$/, "");
      throw new CodeError(message, error.pos);
    }
    if (isStackOverflow(error)) throw new CodeError(NESTED_TOO_DEEPLY, 0);
    throw error;
  }
}

/** A node and the one that it is a part of. */
export interface Visit {
  readonly node: AnyNode;
  readonly parent: AnyNode | null;
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;

/** Every node, each before its parts, and these in the order in which they stand. */
export function* walk(root: AnyNode): Generator<Visit> {
  const waiting: Visit[] = [{ node: root, parent: null }];
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    yield visit;
    const { node } = visit;
    for (const part of Object.values(node).flat().reverse()) {
      if (isNode(part)) waiting.push({ node: part, parent: node });
    }
  }
}
