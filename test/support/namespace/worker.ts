/** The stand-in as Miniflare takes it, for tests within workerd and across the network. */
import path from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from "miniflare";
import type { Script } from "./scripts.ts";

/** Names and token that the stand-in accepts. */
export const NAMESPACE = {
  accountId: "0123456789abcdef0123456789abcdef",
  namespace: "atrium-workflows",
  token: "a-token-of-the-tests-and-of-nothing-else",
} as const;

/** The stand-in's Worker, with an address of its own when it is served by itself. */
export async function namespaceWorker(): Promise<V4WorkerOptions & { readonly name: string }> {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, "index.ts")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    external: ["cloudflare:*", "node:*"],
  });
  return {
    name: "namespace",
    modules: [{ type: "ESModule", path: "namespace.js", contents: outputFiles[0]?.text ?? "" }],
    compatibilityDate: "2026-10-01",
    workerLoaders: { LOADER: {} },
    r2Buckets: ["SCRIPTS"],
    bindings: {
      ACCOUNT_ID: NAMESPACE.accountId,
      NAMESPACE: NAMESPACE.namespace,
      API_TOKEN: NAMESPACE.token,
    },
  };
}

export interface ServedNamespace {
  /** Where the API begins, as WORKFLOWS_API_URL and CLOUDFLARE_API_BASE_URL have it. */
  readonly apiUrl: string;
  readonly stop: () => Promise<void>;
  /** The script as it was uploaded. */
  readonly kept: (script: string) => Promise<Script | null>;
  /** Calls the script's `fetch` through the binding. */
  readonly dispatch: (
    script: string,
    url: string,
  ) => Promise<{ readonly status: number; readonly text: string }>;
}

/** A Worker that dispatches as customers' platforms do: by the first part of the path. */
const CALLER = `
  export default {
    async fetch(request, env) {
      const [, script] = new URL(request.url).pathname.split("/");
      try { return await env.DISPATCHER.get(script).fetch(request); }
      catch (error) { return new Response(error.message, { status: 500 }); }
    },
  };
`;

/** Serves the stand-in by itself, in a process of its own. */
export async function serveNamespace(): Promise<ServedNamespace> {
  const caller: V4WorkerOptions = {
    name: "caller",
    modules: [{ type: "ESModule", path: "caller.js", contents: CALLER }],
    compatibilityDate: "2026-10-01",
    serviceBindings: { DISPATCHER: { name: "namespace", entrypoint: "Dispatcher" } },
  };
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      workers: [await namespaceWorker(), caller],
      cf: false,
      telemetry: { enabled: false },
    }),
  );
  const url = await miniflare.ready;
  const dispatch = await miniflare.getWorker("caller");
  return {
    apiUrl: new URL("/client/v4", url).href,
    stop: () => miniflare.dispose(),
    kept: async (script) => {
      const bucket = await miniflare.getR2Bucket("SCRIPTS", "namespace");
      const text = await (await bucket.get(script))?.text();
      return text === undefined ? null : (JSON.parse(text) as Script);
    },
    dispatch: async (script, at) => {
      const response = await dispatch.fetch(`http://caller/${script}${at}`);
      return { status: response.status, text: await response.text() };
    },
  };
}
