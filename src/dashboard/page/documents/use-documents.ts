/** Queries and actions for the documents of a room. */
import { useQuery } from "@tanstack/react-query";
import { AtriumError, type DocumentDetails, type DocumentSummary } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import { useAction } from "../data/use-action.ts";
import { LIVE_REFRESH_MS } from "../live/live-refresh.ts";
import type { BulkAction } from "../ui/several.tsx";

/** All of a room's documents, of which there are at most 1,000, by name. */
export function useDocuments(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "documents"),
    queryFn: () => atrium.documents.list(roomId),
    refetchInterval: LIVE_REFRESH_MS,
  });
}

/** One document; null when there is none of this name. */
export function useDocument(roomId: string, name: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "documents", name),
    queryFn: async (): Promise<DocumentDetails | null> => {
      try {
        return await atrium.documents.summary(roomId, name);
      } catch (error) {
        if (error instanceof AtriumError && error.code === "NOT_FOUND") return null;
        throw error;
      }
    },
    refetchInterval: LIVE_REFRESH_MS,
  });
}

export function useDeleteDocument(roomId: string, name: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.documents.delete(roomId, name), {
    notice: "Document deleted",
    invalidates: [key("room", roomId, "documents")],
    isForm: true,
  });
}

/** What can be done with several documents of a room. */
export function useDocumentActions(roomId: string): readonly BulkAction<DocumentSummary>[] {
  const { documents } = useCurrent().atrium;
  return [
    {
      label: "Delete",
      done: "deleted",
      consequences:
        "Their content and all their versions are deleted for everyone in the room. This cannot be undone.",
      isDanger: true,
      isTyped: true,
      run: oneByOne(({ name }) => documents.delete(roomId, name)),
    },
  ];
}
