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

/**
 * Runs a wrangler command, and returns its output. `note` is given its lines as they come. Throws a CommandError with
 * wrangler's reason.
 */
export async function runWrangler(
  args: readonly string[],
  stop: AbortSignal,
  further: Readonly<Record<string, string>> = {},
  note: (line: string) => void = () => undefined,
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
      const line = latestLine(text);
      if (line !== undefined) note(line);
    });
  }
  const exitCode = await ended;
  stop.throwIfAborted();
  if (exitCode !== 0) throw new CommandError(reasonIn(stripVTControlCharacters(all)));
  return output;
}

/** The last line that says something, without wrangler's asides about its own log and the lines that it draws. */
export const latestLine = (text: string): string | undefined =>
  stripVTControlCharacters(text)
    .split("\n")
    .map((line) => line.trim())
    .findLast((line) => /\p{L}/u.test(line) && !/^\(|WRANGLER_LOG|^🪵/u.test(line));

/** Begins of wrangler's advice, which follows the reason. */
const ADVICE = /\s*(If you think this is a bug|📎|Note that there is a newer version)[\s\S]*/;

/** Wrangler's own words, without its decoration, its advice or the JSON around them. */
function reasonIn(output: string): string {
  const [, reason] = /\[ERROR\]\s*([\s\S]+)/.exec(output) ?? [];
  const inJson = [...output.matchAll(/"text": "([^"]+)/g)].map(([, text]) => text).join(" ");
  return `wrangler failed: ${(reason ?? (inJson || output))
    .replace(ADVICE, "")
    .trim()
    .replace(/\s*\n\s*/g, " ")}`;
}
