/** Keeps a document connected while a component reads it, and until its changes are stored. */
import type { Unsubscribe } from "../../react/external-source.ts";
import type { DocumentProvider } from "../index.ts";

/** A function that connects the document until the function that it returns is called, and its changes are stored. */
export function connectWhileRead(provider: DocumentProvider): () => Unsubscribe {
  let isWatched = false;
  const release = () => {
    if (!isWatched && !provider.hasUnsyncedChanges) provider.disconnect();
  };
  provider.on("unsyncedChanges", release);
  return () => {
    isWatched = true;
    provider.connect();
    return () => {
      isWatched = false;
      // Asynchronously, because StrictMode releases and connects again at once.
      queueMicrotask(release);
    };
  };
}
