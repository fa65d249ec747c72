/** What is loaded wherever a program runs: its module, the harness around it, and the rules that both are under. */
import harness from "../../../.wrangler/guest/harness.txt";
import { sha256 } from "../../platform/hash.ts";
import type { Script } from "./runner.ts";

/**
 * From before Node's modules came without being asked for; of them only the one that carries a run through its
 * awaits. Code from strings is refused even where a module begins.
 */
export const GUEST_COMPATIBILITY = {
  date: "2026-07-01",
  flags: ["nodejs_als", "disallow_eval_during_startup"],
} as const;

export const MAIN_MODULE = "main.js";

/** The modules by their names, `MAIN_MODULE` among them: what the program's own one imports is ours. */
export const guestModules = (program: string): Record<string, string> => ({
  [MAIN_MODULE]: 'export { default } from "./harness.js";',
  "harness.js": harness,
  "guard.js": 'export { tick, spread } from "./harness.js";',
  "workflow.js": program,
});

let version: Promise<string> | undefined;

/** Names what surrounds a program: the same program in other surroundings is something else. */
const guestVersion = (): Promise<string> => {
  version ??= sha256(new TextEncoder().encode(JSON.stringify([guestModules(""), GUEST_COMPATIBILITY])));
  return version;
};

/** Names all that decides what a script does: scripts of the same name may share an isolate, no others. */
export async function nameOf({ accountId, workflowId, hash }: Omit<Script, "module">): Promise<string> {
  const text = JSON.stringify([accountId, workflowId, hash, await guestVersion()]);
  return sha256(new TextEncoder().encode(text));
}
