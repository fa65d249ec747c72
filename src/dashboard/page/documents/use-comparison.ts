/** What differs in one shared type between two versions of a document, and whose change it is. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCurrent, useKey } from "../data/organization.tsx";
import type { DocumentRoot } from "./document-root.ts";
import type { Chosen } from "./use-choice.ts";
import type { DocumentPlace } from "./use-history.ts";

export interface ComparisonQuery {
  readonly from: number;
  readonly to: Chosen;
  /** The number of the document's latest update. */
  readonly seq: number;
  /** The name of the shared type. */
  readonly root: string;
  readonly type: DocumentRoot["kind"];
}

export function useComparison({ roomId, name }: DocumentPlace, query: ComparisonQuery) {
  const { atrium } = useCurrent();
  const key = useKey();
  const { from, to, seq, root, type } = query;
  return useQuery({
    queryKey: key("document comparison", roomId, name, { from, to: to ?? seq, root, type }),
    queryFn: () => atrium.documents.compare(roomId, name, { from, root, type, ...(to !== null && { to }) }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
