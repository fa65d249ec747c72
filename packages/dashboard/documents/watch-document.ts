/**
 * Keeps a copy of a document in step with the room, and shows its content. Loaded on demand, because it
 * contains Yjs.
 */
import type { AtriumClient } from "atrium/client";
import { openDocument } from "atrium/documents";
import { encodeStateAsUpdate } from "yjs";
import type { DocumentRoot } from "./document.ts";
import { readUpdate } from "./read-document.ts";

/** Combines changes in quick succession. */
const PAUSE_MS = 200;

interface Watching {
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly show: (roots: readonly DocumentRoot[]) => void;
}

export function watchDocument(client: AtriumClient, name: string, { signal, show }: Watching): void {
  const provider = openDocument(client, name);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = () => {
    timer = undefined;
    // Reads a copy: the kind of a shared type may change, and a document takes each name as one kind only.
    if (provider.synced) show(readUpdate(encodeStateAsUpdate(provider.doc)));
  };
  const readSoon = () => {
    timer ??= setTimeout(read, PAUSE_MS);
  };
  provider.doc.on("update", readSoon);
  provider.on("sync", readSoon);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    provider.destroy();
  });
}
