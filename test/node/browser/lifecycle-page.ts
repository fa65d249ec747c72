/** A page that joins a room with the built client, and shows its store, its document and its users. */
import { build } from "esbuild";
import type { Text } from "yjs";
import { ROOT } from "../cli/processes.ts";

/** The page's interface to a test, beside its client. */
declare global {
  interface Window {
    text: Text;
    /** The statuses of the connection, without those that repeat the one before. */
    statuses: string[];
    /** Whether each `pageshow` was the return of a page that the browser has kept. */
    restored: boolean[];
    /** How many WebSockets are open, or being opened. */
    openNow(): number;
    /** The content that a person sees. */
    look(): Shown;
  }
}

/** The room's content as a page or the service has it. */
export interface Shown {
  readonly notes: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly online: readonly string[];
  /** The presence of the other user. */
  readonly mood: unknown;
}

/** The page joins as its address says. */
export const LIFECYCLE_PAGE = `<!doctype html><link rel=icon href=data:,>
  <script type=importmap>{ "imports": { "yjs": "/yjs.js", "y-protocols/awareness": "/yjs.js" } }</script>
  <script type=module>
    import { AtriumClient } from "./client.js";
    import { openDocument } from "./documents.js";
    const { serverUrl, authToken } = Object.fromEntries(new URLSearchParams(location.search));
    const client = new AtriumClient({ serverUrl, authToken });
    const sockets = [];
    const openNow = () => sockets.filter(({ readyState }) => readyState < WebSocket.CLOSING).length;
    globalThis.WebSocket = class extends WebSocket {
      constructor(...args) {
        super(...args);
        sockets.push(this);
      }
    };
    const statuses = [], restored = [];
    addEventListener("pageshow", ({ persisted }) => restored.push(persisted));
    client.socket.on("status", ({ status }) => status !== statuses.at(-1) && statuses.push(status));
    const notes = client.store("notes");
    const text = openDocument(client, "text").doc.getText("text");
    const states = client.presence.sync("*", () => {});
    const look = () => ({
      notes: notes.getAll(),
      text: String(text),
      online: [...client.users.online.values()].map(({ name }) => name).sort(),
      mood: [...client.presence.getStates().values()].find(({ mood }) => mood)?.mood ?? null,
    });
    Object.assign(window, { client, text, statuses, restored, openNow, look });
    client.join().catch(() => {}); // the status has the error
    notes.sync().catch(() => {});
  </script>`;

/** The package leaves Yjs to the application: one script for both of its names. */
export async function bundleYjs(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    stdin: { contents: 'export * from "yjs"; export * from "y-protocols/awareness";', resolveDir: ROOT },
    bundle: true,
    write: false,
    format: "esm",
  });
  return outputFiles[0]?.text ?? "";
}
