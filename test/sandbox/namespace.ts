/** The dispatch runner on the stand-in for a namespace, and what its API was asked. */
import { env } from "cloudflare:workers";
import { type DispatchBinding, DispatchRunner } from "../../src/sandbox/runners/dispatch-runner.ts";
import { NamespaceApi } from "../../src/sandbox/runners/namespace-api.ts";
import { namespaceSettings } from "../../src/sandbox/runners/namespace-settings.ts";
import { LIMITS } from "../workflows/support.ts";

export const SETTINGS = namespaceSettings(env.NAMESPACE_SETTINGS);

/** The stand-in's binding is a service's, which the calls do not tell from a namespace's. */
const dispatcher = () => env.NAMESPACE_DISPATCHER as unknown as DispatchBinding;

/** The first requests to the API may be answered otherwise; `calls` has the verb and the script's name of each. */
export function dispatchRunner(...first: Response[]): {
  readonly runner: DispatchRunner;
  readonly calls: readonly string[];
} {
  const calls: string[] = [];
  const api = new NamespaceApi(SETTINGS, {
    fetch: async (input, init) => {
      calls.push(`${init?.method} ${new URL(String(input)).pathname.split("/").at(-1)}`);
      return first.shift() ?? env.NAMESPACE_API.fetch(input, init);
    },
    now: Date.now,
    random: Math.random,
    pause: () => Promise.resolve(),
  });
  return { runner: new DispatchRunner(dispatcher(), api, LIMITS), calls };
}
