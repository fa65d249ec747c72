/** The source files with their imports, and the graphs that these make. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

export const SRC = path.join(import.meta.dirname, "../../src");
export interface Source {
  /** Below src, as in `rooms/store.ts`. */
  readonly file: string;
  readonly text: string;
  /** Packages by name, our own files below src; types count as well. */
  readonly imports: readonly string[];
  /** Those that are more than types, and so are loaded at run time. */
  readonly loads: readonly string[];
}

/** `import … from "x"`, `export … from "x"`, `import "x"`, and `import("x")` both as a value and as a type. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b(\s+type\b)?(?:[^;"'=()]*?\bfrom)?\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g;
export const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g;

function read(file: string): Source {
  const text = readFileSync(path.join(SRC, file), "utf8");
  const found = [...text.replace(COMMENT, "").matchAll(IMPORT)].map(([, isType, named, called]) => {
    const target = named ?? called ?? "";
    return {
      isType: isType !== undefined || called !== undefined,
      target: target.startsWith(".") ? path.join(path.dirname(file), target) : target,
    };
  });
  return {
    file,
    text,
    imports: found.map(({ target }) => target),
    loads: found.filter(({ isType }) => !isType).map(({ target }) => target),
  };
}

export const sources = globSync("**/*.{ts,tsx}", { cwd: SRC }).map(read);

/** The folder of a file; files at the root stand for themselves. */
export const nodeOf = (file: string): string => (file.includes("/") ? path.dirname(file) : file);

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Which nodes import which others, where `toNode` says to which node a file belongs. */
export function graphOf(toNode: (file: string) => string): Graph {
  const known = new Set(sources.map(({ file }) => file));
  const graph = new Map<string, Set<string>>();
  for (const { file, imports } of sources) {
    const targets = graph.get(toNode(file)) ?? new Set();
    graph.set(toNode(file), targets);
    for (const target of imports) {
      if (known.has(target) && toNode(target) !== toNode(file)) targets.add(toNode(target));
    }
  }
  return graph;
}

/** The strongly connected components of more than one node (Tarjan), each as its sorted nodes. */
export function cyclesOf(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): number => {
    order.set(node, order.size);
    stack.push(node);
    let low = order.get(node) ?? 0;
    for (const target of graph.get(node) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (stack.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    if (low === order.get(node)) {
      const component = stack.splice(stack.indexOf(node));
      if (component.length > 1) cycles.push(component.sort());
    }
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles;
}
