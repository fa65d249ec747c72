/** `npm run dev -- sdk`: writes the methods of `atrium/server` that the endpoints declare. `--check` fails when they differ. */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { registerHooks } from "node:module";
import path from "node:path";
import { generateServerSdk } from "./package/server-sdk.ts";
import { CommandError, readFlags, runCommand, UsageError } from "./process/command.ts";
import { ROOT } from "./process/supervisor.ts";

const USAGE = "Usage: npm run dev -- sdk [--check]";
const HELP = `${USAGE}

Writes packages/sdk/server/generated.ts from the endpoints.

  --check  writes nothing, and fails when the file is not what the endpoints declare`;
const GENERATED = "packages/sdk/server/generated.ts";
const BIOME = path.join(ROOT, "node_modules/.bin/biome");

/** Classes in place of the platform's, and empty text in place of bundles: nothing of them runs. */
const PLATFORM = `data:text/javascript,${["DurableObject", "RpcTarget", "WorkerEntrypoint"]
  .map((name) => `export class ${name} {}`)
  .join("\n")}
export const exports = {};
export default "";`;

function format(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      BIOME,
      ["check", "--write", `--stdin-file-path=${GENERATED}`],
      { cwd: ROOT, maxBuffer: 2 ** 24 },
      (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
    );
    child.stdin?.end(text);
  });
}

async function main(): Promise<void> {
  const { values, positionals } = readFlags(USAGE, process.argv.slice(2), { check: { type: "boolean" } });
  if (positionals.length > 0) throw new UsageError(USAGE);
  registerHooks({
    resolve: (specifier, context, next) =>
      /^cloudflare:|\.txt$/.test(specifier)
        ? { url: PLATFORM, shortCircuit: true }
        : next(specifier, context),
  });
  const { loadEndpoints } = await import("../endpoints.ts");
  const text = await format(await generateServerSdk(await loadEndpoints()));
  const file = path.join(ROOT, GENERATED);
  if (!values.check) return writeFile(file, text);
  if ((await readFile(file, "utf8")) !== text)
    throw new CommandError(`${GENERATED} is not what the endpoints declare: run npm run dev -- sdk.`);
}

await runCommand(main, { help: HELP });
