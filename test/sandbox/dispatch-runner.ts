/** The dispatch runner on the stand-in for a namespace, and the requests to its API. */
import { env } from "cloudflare:workers";
import { namespaceSettings } from "../../src/platform/config.ts";
import { DispatchRunner } from "../../src/sandbox/runners/dispatch-runner.ts";
import { NamespaceApi } from "../../src/sandbox/runners/namespace-api.ts";
import type { Attempt } from "../support/namespace/dispatcher.ts";
import { LIMITS } from "../workflows/support.ts";

export const SETTINGS = namespaceSettings(env.NAMESPACE_SETTINGS);

/** The namespace's binding, as far as the runner uses it. */
const dispatcher: ConstructorParameters<typeof DispatchRunner>[0] = {
  get: (name, _args, options = {}) => {
    const run = async (...args: unknown[]) => {
      const attempt = (await env.NAMESPACE_DISPATCHER.attempt(name, options, ...args)) as Attempt;
      if ("problem" in attempt) throw new Error(attempt.problem);
      return attempt.value;
    };
    return { run } as unknown as Fetcher;
  },
};

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
  return { runner: new DispatchRunner(dispatcher, api, LIMITS), calls };
}
