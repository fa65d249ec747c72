/** A comment with its author, anchor, reactions and actions. */
import type { Comment, User } from "atrium/server";
import type { Selection } from "../data/use-selection.ts";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/confirm.tsx";
import { Badge } from "../ui/feedback.tsx";
import { SelectBox } from "../ui/select-box.tsx";
import { Time } from "../ui/time.tsx";
import { Reply } from "./new-comment.tsx";
import { useDeleteComment, useResolveComment } from "./use-comments.ts";

export interface CommentCardProps {
  readonly comment: Comment;
  readonly nameOf: (userId: string) => string;
  /** On whose behalf one can reply. */
  readonly users: readonly User[];
  readonly selection: Selection<Comment>;
}

export function CommentCard({ comment, nameOf, users, selection }: CommentCardProps) {
  const resolve = useResolveComment(comment.room_id, comment.id);
  const remove = useDeleteComment(comment.room_id, comment.id);
  // Optimistic: shows the requested state before the response.
  const resolved = resolve.isPending ? resolve.variables : comment.resolved;
  const isReply = comment.thread_id !== comment.id;
  return (
    <li
      className={isReply ? "comment reply" : "comment"}
      data-selected={selection.has(comment.id) || undefined}
    >
      <p className="comment-head">
        <SelectBox
          selection={selection}
          id={comment.id}
          name={`the comment of ${nameOf(comment.user_id)}: ${comment.text.slice(0, 80)}`}
        />
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
        <Reply
          roomId={comment.room_id}
          users={users}
          threadId={comment.thread_id}
          author={nameOf(comment.user_id)}
        />
        <Button variant="quiet" onClick={() => resolve.mutate(!resolved)}>
          {resolved ? "Reopen" : "Resolve"}
        </Button>
        <ConfirmButton
          label="Delete"
          variant="quiet"
          title="Delete this comment?"
          confirmLabel="Delete comment"
          act={remove}
        >
          <p>It disappears for everyone in the room. This cannot be undone.</p>
        </ConfirmButton>
      </p>
    </li>
  );
}
