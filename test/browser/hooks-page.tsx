/** A page that uses every hook and exposes their results in `window.hooks` for a test to read and call. */
import { StrictMode, useRef, useState } from "react";
import { createRoot, type Root } from "react-dom/client";
import { AtriumClient, defineStores } from "../../src/sdk/client/index.ts";
import {
  RoomProvider,
  type RoomProviderProps,
  useBroadcast,
  useComments,
  useConnection,
  useOthers,
  usePresence,
  useRoom,
  useSelf,
  useStore,
} from "../../src/sdk/react/index.ts";

interface Task {
  readonly title: string;
  readonly done?: boolean;
}

const STORES = defineStores({
  tasks: { title: { type: "string", required: true }, done: { type: "boolean", default: false } },
});

function useEverything() {
  const renders = useRef(0);
  renders.current += 1;
  const [label, setLabel] = useState("first");
  const heard = useRef<string[]>([]);
  const broadcast = useBroadcast("call", (data, from) => {
    heard.current.push(`${label}: ${JSON.stringify(data)} from ${from}`);
  });
  return {
    renders: renders.current,
    heard: heard.current,
    setLabel,
    broadcast,
    connection: useConnection(),
    room: useRoom(),
    self: useSelf(),
    others: useOthers(),
    presence: usePresence<{ x: number; y: number }>(),
    tasks: useStore<Task>("tasks"),
    comments: useComments(),
  };
}

type Hooks = ReturnType<typeof useEverything>;

/** A provider with the page's own client, or with a new one. */
export type Provided = "given" | { readonly token: string; readonly role?: "viewer" };

export interface Stage {
  hooks: Hooks;
  /** The page's own client, to pass to a provider. */
  client: AtriumClient<typeof STORES>;
  /** Renders these providers side by side, and unmounts the previous ones. */
  mount(providers: readonly Provided[]): void;
  unmount(): void;
  makeClient(token: string): void;
  /** The error of a hook outside any provider. */
  errorOutside(): Promise<string>;
}

declare global {
  interface Window {
    stage: Stage;
  }
}

function Everything() {
  window.stage.hooks = useEverything();
  return null;
}

let root: Root | null = null;
const serverUrl = location.origin;

const propsOf = (provider: Provided): RoomProviderProps =>
  provider === "given"
    ? { client: window.stage.client }
    : { serverUrl, authToken: provider.token, role: provider.role, stores: STORES };

window.stage = {
  // Set by the first render and by makeClient.
  ...({} as Pick<Stage, "hooks" | "client">),
  makeClient(token) {
    window.stage.client = new AtriumClient({ serverUrl, authToken: token, stores: STORES });
  },
  mount(providers) {
    root ??= createRoot(document.body);
    root.render(
      <StrictMode>
        {providers.map((provider, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same place is the same provider
          <RoomProvider key={index} {...propsOf(provider)}>
            <Everything />
          </RoomProvider>
        ))}
      </StrictMode>,
    );
  },
  unmount() {
    root?.unmount();
    root = null;
  },
  errorOutside: () =>
    new Promise((resolve) => {
      const outside = createRoot(document.createElement("div"), {
        onUncaughtError: (error) => resolve(String(error)),
      });
      outside.render(<Everything />);
    }),
};
