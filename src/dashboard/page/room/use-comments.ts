/** Queries and actions for the comments of a room. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Comment } from "atrium/server";
import { useCurrent, useKey } from "../data/organization.tsx";
import { oneByOne } from "../data/several-requests.ts";
import { useAction } from "../data/use-action.ts";
import { LIVE_REFRESH_MS } from "../live/live-refresh.ts";
import type { BulkAction } from "../ui/several.tsx";

export interface CommentFilter {
  readonly limit: number;
  readonly offset: number;
  readonly resolved?: boolean;
  readonly search?: string;
}

export function useComments(roomId: string, filter: CommentFilter) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useQuery({
    queryKey: key("room", roomId, "comments", filter),
    queryFn: () => atrium.comments.list(roomId, filter),
    // A search reads all comments of the room.
    refetchInterval: filter.search === undefined && LIVE_REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

export interface NewComment {
  readonly userId: string;
  readonly text: string;
  readonly threadId?: string;
}

export function useCreateComment(roomId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((comment: NewComment) => atrium.comments.create(roomId, comment), {
    invalidates: [key("room", roomId, "comments")],
    isForm: true,
  });
}

export function useResolveComment(roomId: string, commentId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction((resolved: boolean) => atrium.comments.update(roomId, commentId, { resolved }), {
    invalidates: [key("room", roomId, "comments")],
  });
}

export function useDeleteComment(roomId: string, commentId: string) {
  const { atrium } = useCurrent();
  const key = useKey();
  return useAction(() => atrium.comments.delete(roomId, commentId), {
    notice: "Comment deleted",
    invalidates: [key("room", roomId, "comments")],
    isForm: true,
  });
}

/** What can be done with several comments of a room. */
export function useCommentActions(roomId: string): readonly BulkAction<Comment>[] {
  const { comments } = useCurrent().atrium;
  return [
    {
      label: "Resolve",
      done: "resolved",
      consequences: "They are shown as resolved to everyone in the room, and can be reopened.",
      applies: ({ resolved }) => !resolved,
      run: oneByOne(({ id }) => comments.update(roomId, id, { resolved: true })),
    },
    {
      label: "Reopen",
      done: "reopened",
      consequences: "They are shown as open to everyone in the room again.",
      applies: ({ resolved }) => resolved,
      run: oneByOne(({ id }) => comments.update(roomId, id, { resolved: false })),
    },
    {
      label: "Delete",
      done: "deleted",
      consequences: "They disappear for everyone in the room. This cannot be undone.",
      isDanger: true,
      run: oneByOne(({ id }) => comments.delete(roomId, id)),
    },
  ];
}
