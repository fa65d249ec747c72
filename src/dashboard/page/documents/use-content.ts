/** What a document, or a version of it, says. Yjs, which reads it, is loaded on demand. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCurrent, useKey } from "../data/organization.tsx";
import type { DocumentRoot } from "./document-root.ts";
import type { DocumentPlace } from "./use-history.ts";

/** A document takes many times its bytes in memory: the page reads a larger one only when the person asks for it. */
export const MAX_SHOWN_BYTES = 1024 * 1024;
/** A still larger one could end the tab. */
export const MAX_READ_BYTES = 8 * 1024 * 1024;

export interface Content {
  /** The number of the latest update that it has. */
  readonly seq: number;
  readonly roots: readonly DocumentRoot[];
}

export interface ContentOptions {
  /** Null for the document as it is, whose latest update is `seq`. */
  readonly version: number | null;
  readonly seq: number;
  readonly isWanted: boolean;
}

/** While a newer content loads, the one before is shown. */
export function useContent({ roomId, name }: DocumentPlace, { version, seq, isWanted }: ContentOptions) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("document content", roomId, name, version ?? "now", version ?? seq),
    queryFn: async (): Promise<Content> => {
      const [update, { readUpdate }] = await Promise.all([
        atrium.documents.get(roomId, name, version === null ? {} : { version }),
        import("./read-document.ts"),
      ]);
      return { seq: version ?? seq, roots: readUpdate(update) };
    },
    enabled: isWanted,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    structuralSharing: false,
  });
}
