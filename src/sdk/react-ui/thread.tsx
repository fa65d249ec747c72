/** `Thread`: the comments of a thread, with a composer for replies. */
import type { ReactNode } from "react";
import { useComments, useRoomPermissions } from "../react/index.ts";
import { Comment } from "./comment.tsx";
import { Composer } from "./composer.tsx";
import { useAttempts } from "./room.ts";
import { useTexts } from "./texts.ts";

interface ThreadProps {
  readonly threadId: string;
}

/** Nothing until the thread was loaded, and once all of its comments are deleted. */
export function Thread({ threadId }: ThreadProps): ReactNode {
  const texts = useTexts();
  const [comments, { resolve }] = useComments(threadId);
  const mayWrite = useRoomPermissions().canWrite("comments");
  const { isBusy, error, attempt } = useAttempts();
  const [first] = comments;
  if (first === undefined) return null;
  const { resolved } = first;
  return (
    <article className="atrium atrium-thread" aria-label={texts.thread(comments.length)}>
      <div className="atrium-bar">
        {resolved && <b className="atrium-resolved">{texts.resolved}</b>}
        {mayWrite && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => void attempt(() => resolve({ commentId: first.id, resolved: !resolved }))}
          >
            {resolved ? texts.reopen : texts.resolve}
          </button>
        )}
        {error !== null && (
          <p role="alert" className="atrium-error">
            {error}
          </p>
        )}
      </div>
      <ol>
        {comments.map((comment) => (
          <li key={comment.id}>
            <Comment comment={comment} canDelete={comments.length === 1 || comment !== first} />
          </li>
        ))}
      </ol>
      <Composer threadId={threadId} />
    </article>
  );
}
