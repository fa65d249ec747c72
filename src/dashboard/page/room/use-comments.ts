/** The comments of a room, and what the organization can do about them. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAct } from "../data/use-action.ts";
import { LIVE_MS } from "./use-room.ts";

export interface CommentFilter {
  readonly limit: number;
  readonly offset: number;
  readonly resolved?: boolean;
}

export function useComments(roomId: string, filter: CommentFilter) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "comments", filter),
    queryFn: () => atrium.comments.list(roomId, filter),
    refetchInterval: LIVE_MS,
    placeholderData: keepPreviousData,
  });
}

export interface NewComment {
  readonly userId: string;
  readonly text: string;
  readonly threadId?: string;
}

export function useWriteComment(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((comment: NewComment) => atrium.comments.create(roomId, comment), {
    touches: [key("room", roomId, "comments")],
    isForm: true,
  });
}

export function useResolveComment(roomId: string, commentId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct((resolved: boolean) => atrium.comments.update(roomId, commentId, { resolved }), {
    touches: [key("room", roomId, "comments")],
  });
}

export function useDeleteComment(roomId: string, commentId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAct(() => atrium.comments.delete(roomId, commentId), {
    done: "Comment deleted",
    touches: [key("room", roomId, "comments")],
    isForm: true,
  });
}
