/** `Thread`: the comments of a thread, with a composer for replies. */
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { useComments, useRoomPermissions, useThreadSubscription } from "../react/index.ts";
import { isNotFound, reportUnlessDisconnected } from "../react/shared-connection.ts";
import { Comment } from "./comment.tsx";
import { Composer } from "./composer.tsx";
import type { GroupResolver } from "./resolve.ts";
import { Failure, useAttempts } from "./room.tsx";
import { useTexts } from "./texts.ts";

interface ThreadProps {
  readonly threadId: string;
  /** True to focus the field for a reply at once; false by default. */
  readonly autoFocus?: boolean | undefined;
  /** False to leave the thread unread when its newest comment is seen; true by default. */
  readonly markAsRead?: boolean | undefined;
  /** Finds the names of mentioned groups, which are shown as mentions. */
  readonly resolveGroup?: GroupResolver | undefined;
}

/** Nothing until the thread was loaded, and once all of its comments are deleted. */
export function Thread(props: ThreadProps): ReactNode {
  const { threadId, autoFocus, markAsRead = true, resolveGroup } = props;
  const texts = useTexts();
  const [comments, { resolve }] = useComments(threadId);
  const mayWrite = useRoomPermissions().canWrite("comments");
  const { isBusy, error, attempt } = useAttempts();
  const list = useRef<HTMLOListElement>(null);
  const isSeen = useIsSeen(list, comments.at(-1)?.id);
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
            aria-disabled={isBusy} // a disabled button loses the focus
            onClick={() => {
              if (!isBusy) void attempt(() => resolve({ commentId: first.id, resolved: !resolved }));
            }}
          >
            {resolved ? texts.reopen : texts.resolve}
          </button>
        )}
        <Failure error={error} />
      </div>
      {markAsRead && isSeen && <MarkAsRead threadId={threadId} />}
      <ol ref={list}>
        {comments.map((comment) => (
          <li key={comment.id}>
            <Comment
              comment={comment}
              canDelete={comments.length === 1 || comment !== first}
              resolveGroup={resolveGroup}
            />
          </li>
        ))}
      </ol>
      <Composer threadId={threadId} autoFocus={autoFocus} />
    </article>
  );
}

/** Whether the last item of a list is in the window, and the window is shown. */
function useIsSeen(list: RefObject<HTMLElement | null>, lastId: string | undefined): boolean {
  const [isSeen, setSeen] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another comment is another item
  useEffect(() => {
    const last = list.current?.lastElementChild;
    if (!last) return;
    let isInView = false;
    const update = () => setSeen(isInView && !document.hidden);
    const observer = new IntersectionObserver((entries) => {
      isInView = entries.at(-1)?.isIntersecting === true;
      update();
    });
    observer.observe(last);
    document.addEventListener("visibilitychange", update);
    return () => {
      observer.disconnect();
      document.removeEventListener("visibilitychange", update);
    };
  }, [list, lastId]);
  return isSeen;
}

/** Marks the thread as read up to its end, and once more when it has another one. */
function MarkAsRead({ threadId }: { readonly threadId: string }) {
  const [thread, { markAsRead }] = useThreadSubscription(threadId);
  const marked = useRef(0);
  const end = thread?.unread_count ? thread.last_seq : 0;
  useEffect(() => {
    if (end <= marked.current) return;
    marked.current = end;
    markAsRead(end).catch((error: unknown) => {
      if (!isNotFound(error)) reportUnlessDisconnected(error); // else the thread was deleted meanwhile
    });
  }, [end, markAsRead]);
  return null;
}
