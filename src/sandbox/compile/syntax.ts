/** JavaScript as a tree: parsed within bounds, and walked without recursion. */
import { type AnyNode, type Options, Parser, type Program } from "acorn";
import { CodeError, isStackOverflow, NESTED_TOO_DEEPLY } from "./code-error.ts";

/** How often a name may be noted in a scope, before a program is refused that would take the memory of others. */
const MAX_NOTED_NAMES = 300_000;

const OPTIONS: Options = { ecmaVersion: "latest", sourceType: "module", allowHashBang: false };

/** The names of a scope. The parser looks for each new one in them, which an array alone makes slow. */
class Names extends Array<string> {
  readonly #known = new Set<string>();
  readonly #noted: () => void;

  constructor(noted: () => void) {
    super();
    this.#noted = noted;
  }

  override push(name: string): number {
    this.#noted();
    this.#known.add(name);
    return super.push(name);
  }

  /** 0 for a name that is there: the parser asks no more than whether it is. */
  override indexOf(name: string): number {
    return this.#known.has(name) ? 0 : -1;
  }
}

/** What acorn's plugins may override of its parser, beyond the types that it publishes. */
interface ParserInside {
  /** Where the token at hand begins. */
  readonly start: number;
  readonly scopeStack: { var: string[]; lexical: string[]; functions: string[] }[];
  enterScope(flags: number): void;
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
        const names = () => new Names(() => this.#note());
        const scope = this.scopeStack.at(-1);
        if (scope) Object.assign(scope, { var: names(), lexical: names(), functions: names() });
      }

      /** A `var` is noted in each block around it. */
      #note(): void {
        this.#notedNames += 1;
        if (this.#notedNames > MAX_NOTED_NAMES) {
          throw new CodeError("The code declares too many variables", this.start);
        }
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

const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;

/** Visits every node, each before its parts, and these in no order. */
export function walk(root: AnyNode, visit: (node: AnyNode) => void): void {
  const waiting: AnyNode[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    visit(node);
    for (const part of Object.values(node)) {
      for (const inner of Array.isArray(part) ? part : [part]) if (isNode(inner)) waiting.push(inner);
    }
  }
}
