/** The threads of a board, and what the page is doing with them. */
import type { Comment } from "atrium/client";
import type { ActiveComment } from "atrium/tldraw";
import type { Dispatch, SetStateAction } from "react";

/** The only page of the board, which the anchors of its threads name. */
export const BOARD = "board";

export interface CommentsProps {
  readonly active: ActiveComment;
  readonly setActive: Dispatch<SetStateAction<ActiveComment>>;
}

export interface PanelProps extends CommentsProps {
  close(): void;
}

/** The first comments of the threads that are pinned to the board. Any client can write anything. */
export const threadsOf = (comments: readonly Comment[]): readonly Comment[] =>
  comments.filter(({ id, thread_id, anchor }) => id === thread_id && Object(anchor).pageId === BOARD);
