/** What a document says, as it changes, while the person watches its room live. */
import type { AtriumClient } from "atrium/client";
import { useEffect, useState } from "react";
import type { DocumentRoot } from "./document-root.ts";
import type { DocumentPlace } from "./use-history.ts";

/** Null while not watching, and until the document is there. */
export function useLiveContent(
  { name }: DocumentPlace,
  client: AtriumClient | null,
): readonly DocumentRoot[] | null {
  const [roots, setRoots] = useState<readonly DocumentRoot[] | null>(null);
  useEffect(() => {
    if (client === null) return;
    const watching = new AbortController();
    const { signal } = watching;
    void import("./watch-document.ts").then(({ watchDocument }) => {
      if (!signal.aborted) watchDocument(client, name, { signal, show: setRoots });
    });
    return () => {
      watching.abort();
      setRoots(null);
    };
  }, [client, name]);
  return roots;
}
