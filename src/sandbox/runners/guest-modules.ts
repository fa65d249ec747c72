/** The modules that every isolate loads, a program and the harness around it, and their compatibility settings. */
import harness from "../../../.wrangler/guest/harness.txt";
import { sha256 } from "../../platform/crypto/encoding.ts";
import type { ScriptKey } from "./runner.ts";

/**
 * A date before Node's modules became the default; the one flag adds AsyncLocalStorage, which carries a run through
 * its awaits. The other refuses code from strings while a module is evaluated, too.
 */
export const GUEST_COMPATIBILITY = {
  date: "2026-07-01",
  flags: ["nodejs_als", "disallow_eval_during_startup"],
} as const;

export const MAIN_MODULE = "main.js";

/** The modules by name, including `MAIN_MODULE`. The program's own module imports nothing. */
export const guestModules = (program: string): Record<string, string> => ({
  [MAIN_MODULE]: 'export { default } from "./harness.js";',
  "harness.js": harness,
  // Programs that were compiled before processes and the platform bounded them call these in their loops.
  "guard.js": "export const tick = () => {}, spread = (value) => value;",
  "workflow.js": program,
});

/** The isolate of a program for the Worker Loader, without a network. */
export const guestWorker = (program: string) => ({
  compatibilityDate: GUEST_COMPATIBILITY.date,
  compatibilityFlags: [...GUEST_COMPATIBILITY.flags],
  mainModule: MAIN_MODULE,
  modules: guestModules(program),
  globalOutbound: null,
});

let version: Promise<string> | undefined;

/** Identifies the harness and its settings. A change of them makes another script of the same program. */
const guestVersion = (): Promise<string> => {
  version ??= sha256(new TextEncoder().encode(JSON.stringify([guestModules(""), GUEST_COMPATIBILITY])));
  return version;
};

/** Identifies the behaviour of a script: only scripts of the same name may share an isolate. */
export async function nameOf({ accountId, workflowId, hash }: ScriptKey): Promise<string> {
  const text = JSON.stringify([accountId, workflowId, hash, await guestVersion()]);
  return sha256(new TextEncoder().encode(text));
}
