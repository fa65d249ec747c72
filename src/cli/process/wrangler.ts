/** Runs a command of this checkout's wrangler. */
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { CommandError } from "./command.ts";
import { ROOT, spawnSupervised } from "./supervisor.ts";

/** Tracked by git: the configuration without settings, which `npm start` and the tests use. */
export const CONFIG = path.join(ROOT, "wrangler.toml");
const WRANGLER = path.join(ROOT, "node_modules/wrangler/bin/wrangler.js");

/** {@link runWrangler} until it is stopped. */
export type Wrangler = (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<string>;

/** Runs a wrangler command, and returns its output. Throws a CommandError with wrangler's reason. */
export async function runWrangler(
  args: readonly string[],
  stop: AbortSignal,
  further: Readonly<Record<string, string>> = {},
): Promise<string> {
  // The build command in wrangler.toml calls `node`, which must be this version.
  const env = { ...further, PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}` };
  const options = { env, output: "pipe", endedBy: "SIGTERM" } as const;
  const { child, ended } = spawnSupervised([WRANGLER, ...args], options, stop);
  let [all, output] = ["", ""];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      all += text;
      if (stream === child.stdout) output += text;
    });
  }
  const exitCode = await ended;
  stop.throwIfAborted();
  if (exitCode !== 0) throw new CommandError(reasonIn(stripVTControlCharacters(all)));
  return output;
}

/** Wrangler's own words, without its decoration or the JSON around them. */
function reasonIn(output: string): string {
  const [, reason] = /\[ERROR\]\s*([\s\S]+)/.exec(output) ?? /"text": "([^"]+)/.exec(output) ?? [];
  return `wrangler failed: ${(reason ?? output).trim().replace(/\s*\n\s*/g, " ")}`;
}
