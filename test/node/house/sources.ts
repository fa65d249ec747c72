/** The source files with their imports, and the graphs that these make. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

export const SRC = path.join(import.meta.dirname, "../../../src");
const PACKAGES = path.join(SRC, "../packages");
/** The workspaces by the names that imports of them have, and the demo. */
const WORKSPACES: ReadonlyMap<string, string> = new Map([
  ["@atrium/contract", path.join(PACKAGES, "contract")],
  ["@atrium/dashboard", path.join(PACKAGES, "dashboard")],
  ["@atrium/docs", path.join(PACKAGES, "docs")],
  ["examples/demo", path.join(SRC, "../examples/demo")],
  ["atrium", path.join(PACKAGES, "sdk")],
]);

export interface Source {
  /** Path below src, as in `rooms/store.ts`; for a workspace, the name that others import. */
  readonly file: string;
  readonly text: string;
  /** Packages by name, our own files below src; types count as well. */
  readonly imports: readonly string[];
  /** Imports that are more than types, and so are loaded at run time. */
  readonly loads: readonly string[];
}

/** `import … from "x"`, `export … from "x"`, `import "x"`, and `import("x")` both as a value and as a type. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b(\s+type\b)?(?:[^;"'=()]*?\bfrom)?\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g;
export const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g;

function read(folder: string, below: string, name = ""): Source {
  const text = readFileSync(path.join(folder, below), "utf8");
  const file = path.join(name, below);
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

const filesOf = (folder: string) =>
  globSync("**/*.{ts,tsx}", { cwd: folder, exclude: (name) => name === "node_modules" });

export const sources = [
  ...filesOf(SRC).map((below) => read(SRC, below)),
  ...[...WORKSPACES].flatMap(([name, folder]) => filesOf(folder).map((below) => read(folder, below, name))),
];

/** The folder of a file; files at the root stand for themselves. */
export const nodeOf = (file: string): string => (file.includes("/") ? path.dirname(file) : file);

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The imports between nodes; `toNode` gives the node of a file. */
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

/** Files that run when this one is loaded: itself, and its imports in turn, except by `import()`. */
export function startOf(entry: string): ReadonlySet<string> {
  const loads = new Map(sources.map((source) => [source.file, source.loads]));
  const started = new Set([entry]);
  for (const file of started) {
    for (const target of loads.get(file) ?? []) if (loads.has(target)) started.add(target);
  }
  return started;
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
