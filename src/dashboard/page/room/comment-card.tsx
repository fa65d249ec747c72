/** One comment: who said it, what about, and what became of it. */
import type { Comment } from "atrium/server";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Time } from "../ui/time.tsx";
import { useDeleteComment, useResolveComment } from "./use-comments.ts";

export interface CommentCardProps {
  readonly comment: Comment;
  readonly nameOf: (userId: string) => string;
}

export function CommentCard({ comment, nameOf }: CommentCardProps) {
  const resolve = useResolveComment(comment.room_id, comment.id);
  const remove = useDeleteComment(comment.room_id, comment.id);
  // What was asked for shows before the answer comes.
  const resolved = resolve.isPending ? resolve.variables : comment.resolved;
  const isAnswer = comment.thread_id !== comment.id;
  return (
    <li className={isAnswer ? "comment answer" : "comment"}>
      <p className="comment-head">
        <strong>{nameOf(comment.user_id)}</strong> <Time at={comment.created_at} />
        {resolved && <Badge tone="good">resolved</Badge>}
      </p>
      <p className="comment-text">{comment.text}</p>
      {comment.anchor !== null && <code className="soft small">{JSON.stringify(comment.anchor)}</code>}
      <p className="row-actions">
        {Object.entries(comment.reactions).map(([reaction, users]) => (
          <span key={reaction} className="chip">
            {reaction} {users.length}
          </span>
        ))}
        <Button look="quiet" onClick={() => resolve.mutate(!resolved)}>
          {resolved ? "Open again" : "Resolve"}
        </Button>
        <ConfirmButton
          label="Delete"
          look="quiet"
          title="Delete this comment?"
          verb="Delete comment"
          act={remove}
        >
          <p>Everybody in the room sees it go.</p>
        </ConfirmButton>
      </p>
    </li>
  );
}
