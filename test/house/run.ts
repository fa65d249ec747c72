/** `npm run house`: prints the size of the repository beside its targets; with `--modules`, those of each path as well. */
import { parseArgs } from "node:util";
import { DETAILS, MEASURES, PATH_TARGETS } from "./measures.ts";
import { measurePaths } from "./paths.ts";

const { modules: showsModules = false } = parseArgs({ options: { modules: { type: "boolean" } } }).values;
const column = (value: number): string => value.toLocaleString("en").padStart(8);

function print(name: string, today: number, target: number): void {
  const met = today > target ? "" : "  met";
  console.log(`${name.padEnd(46)}${column(today)}${column(target)}${met}`);
}

console.log(`${"".padEnd(46)}   today  target`);
for (const { name, today, target } of MEASURES) print(name, today, target);
const paths = await measurePaths();
for (const { name, target } of PATH_TARGETS)
  print(`modules of ${name}`, paths.find((path) => path.name === name)?.modules.length ?? 0, target);
if (DETAILS.length > 0) console.log(`\n${DETAILS.join("\n")}`);
if (showsModules) for (const { name, modules } of paths) console.log(`\n${name}:\n${modules.join("\n")}`);
