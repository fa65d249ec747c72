/** `Composer`: writes a comment, as the first of a thread or as a reply. */
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import type { Comment } from "../client/index.ts";
import { useComments, useRoom, useRoomPermissions } from "../react/index.ts";
import { AttachButton, AttachmentList, useAttachments } from "./attachments.tsx";
import { Avatar } from "./avatar.tsx";
import { CommentText } from "./comment-text.tsx";
import { EmojiPicker } from "./emoji-picker.tsx";
import { Field, insertInto } from "./field.tsx";
import { EMPTY_DRAFT, joined, mentionsIn } from "./mentions.ts";
import { useAttempts, useUser } from "./room.tsx";
import { withFiles } from "./text-parts.ts";
import { useTexts } from "./texts.ts";

interface ComposerProps {
  /** The thread to reply in; without it, the comment starts a thread. */
  readonly threadId?: string | undefined;
  /** The subject of a new thread: any JSON. */
  readonly anchor?: unknown;
  /** Names the field; `Comment` or `Reply` by default. */
  readonly label?: string | undefined;
  /** True to focus the field at once, where a person has just asked to write; false by default. */
  readonly autoFocus?: boolean | undefined;
  /** Called with the comment once it is stored. */
  readonly onSent?: ((comment: Comment) => void) | undefined;
}

/**
 * Nothing for users who may not comment. A comment stands above the field while it is sent; one that is refused comes
 * back into the field, with the reason below it.
 */
export function Composer(props: ComposerProps): ReactNode {
  const isShown = useRoomPermissions().canWrite("comments");
  return isShown && <CommentForm {...props} />;
}

/** A comment that is being sent. */
interface Sending extends Pick<Comment, "text" | "mentions"> {
  /** The comments that there were before. */
  readonly known: ReadonlySet<string>;
}

function CommentForm({ threadId, anchor, label, autoFocus = false, onSent }: ComposerProps) {
  const texts = useTexts();
  const { client } = useRoom();
  const [comments, { create }] = useComments(threadId);
  const mayAttach = useRoomPermissions().canWrite("files");
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [sendings, setSendings] = useState<readonly Sending[]>([]);
  const attachments = useAttachments();
  const { error, forget, attempt } = useAttempts();
  const field = useRef<HTMLTextAreaElement>(null);
  const body = withFiles(draft.text, attachments.lines);
  const isReady = body !== "" && !attachments.isUploading;
  const hasArrived = (sending: Sending) =>
    comments.some(
      ({ id, user_id, text: sent }) =>
        user_id === client.userId && sent === sending.text && !sending.known.has(id),
    );

  const send = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!isReady) return;
    const mentions = mentionsIn(draft);
    const sending = { text: body, mentions, known: new Set(comments.map(({ id }) => id)) };
    setSendings((all) => [...all, sending]);
    setDraft(EMPTY_DRAFT);
    const bringFilesBack = attachments.release();
    const sent = await attempt(() => create({ text: body, mentions, threadId, anchor }));
    setSendings((all) => all.filter((each) => each !== sending));
    if (sent !== undefined) return onSent?.(sent);
    setDraft((since) => joined(draft, since));
    bringFilesBack();
  };
  return (
    <form className="atrium atrium-composer" onSubmit={send}>
      {sendings
        .filter((sending) => !hasArrived(sending))
        .map((sending, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they leave in their order
          <SentComment key={index} {...sending} />
        ))}
      <Field
        label={label ?? (threadId === undefined ? texts.comment : texts.reply)}
        draft={draft}
        field={field}
        error={error}
        autoFocus={autoFocus}
        change={(changed) => {
          setDraft(changed);
          forget();
        }}
        submit={() => void send()}
      />
      <AttachmentList {...attachments} />
      <div className="atrium-bar">
        <EmojiPicker
          label={texts.insertEmoji}
          pick={(emoji) => field.current && setDraft(insertInto(field.current, draft, emoji))}
        />
        {mayAttach && <AttachButton add={attachments.add} />}
        <button type="submit" className="atrium-primary" disabled={!isReady}>
          {error === null ? texts.send : texts.tryAgain}
        </button>
      </div>
    </form>
  );
}

/** A comment on its way, as it will look. */
function SentComment({ text, mentions }: Pick<Comment, "text" | "mentions">) {
  const texts = useTexts();
  const author = useUser(useRoom().client.userId);
  return (
    <article className="atrium-comment" aria-busy="true">
      <Avatar name={author?.name ?? ""} picture={author?.profile_picture} />
      <header>
        <b>{author?.name}</b>
        <small>{texts.sending}</small>
      </header>
      <CommentText text={text} mentions={mentions} />
    </article>
  );
}
