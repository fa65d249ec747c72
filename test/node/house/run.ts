/** Prints the bytes and exports of each part, and the modules that run during warm requests; `--modules` lists them. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { measurePaths } from "./paths.ts";
import { SRC } from "./sources.ts";

const ROOT = path.join(SRC, "..");
const EXPORT =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) /gm;

/** The folders below `src` and `packages`, then the ones beside them. */
const PARTS = [...globSync(["src/*/", "packages/*/"], { cwd: ROOT }).sort(), "examples", "test"];

const { modules: showsModules = false } = parseArgs({ options: { modules: { type: "boolean" } } }).values;

function print(name: string, ...columns: readonly (string | number)[]): void {
  console.log(name.padEnd(30) + columns.map((column) => column.toLocaleString("en").padStart(12)).join(""));
}

print("Part", "bytes", "exports");
for (const part of PARTS) {
  const isOwn = (file: string) => !/node_modules|\/dist\/|\/generated\.ts$/.test(file);
  const files = globSync(`${part}/**/*.{ts,tsx,js,css,sql}`, { cwd: ROOT }).filter(isOwn);
  const text = files.map((file) => readFileSync(path.join(ROOT, file), "utf8")).join("\n");
  print(part, Buffer.byteLength(text), text.match(EXPORT)?.length ?? 0);
}

console.log();
print("Warm path", "modules");
for (const { name, modules } of await measurePaths()) {
  print(name, modules.length);
  if (showsModules) console.log(modules.map((module) => `  ${module}`).join("\n"));
}
