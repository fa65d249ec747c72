/** Miniflare plugin that gives a Worker workerd's binding for calls to other workerds, those of the pool. */
import { kVoid } from "miniflare";

/** Names the plugin in a Worker's options. */
export const DEBUG_PORT = { package: import.meta.filename, name: "atrium-debug-port" } as const;

interface WorkerOptions {
  readonly config: { readonly env?: Readonly<Record<string, { readonly type: string }>> };
}

const TYPE = "unsafe:debug-port";

export const plugins = {
  [DEBUG_PORT.name]: {
    getBindings: ({ config: { env = {} } }: WorkerOptions) =>
      Object.entries(env)
        .filter(([, { type }]) => type === TYPE)
        .map(([name]) => ({ name, workerdDebugPort: kVoid })),
    getNodeBindings: () => ({}),
    getServices: () => [],
  },
};
