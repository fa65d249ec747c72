/** `Composer`: writes a comment, as the first of a thread or as a reply. */
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import type { Comment, User } from "../client/index.ts";
import { useComments, useRoomPermissions } from "../react/index.ts";
import { AttachButton, AttachmentList, useAttachments } from "./attachments.tsx";
import { EmojiPicker } from "./emoji-picker.tsx";
import { Field, insertInto } from "./field.tsx";
import { isMentioned } from "./mentions.ts";
import { useAttempts } from "./room.ts";
import { useTexts } from "./texts.ts";

interface ComposerProps {
  /** The thread to reply in; without it, the comment starts a thread. */
  readonly threadId?: string | undefined;
  /** The subject of a new thread: any JSON. */
  readonly anchor?: unknown;
  /** Names the field; `Comment` or `Reply` by default. */
  readonly label?: string | undefined;
  /** Called with the comment once it is stored. */
  readonly onSent?: ((comment: Comment) => void) | undefined;
}

/** Nothing for users who may not comment. A comment that is refused stays in the field, with the reason below it. */
export function Composer(props: ComposerProps): ReactNode {
  const isShown = useRoomPermissions().canWrite("comments");
  return isShown && <CommentForm {...props} />;
}

function CommentForm({ threadId, anchor, label, onSent }: ComposerProps) {
  const texts = useTexts();
  const [, { create }] = useComments(threadId);
  const mayAttach = useRoomPermissions().canWrite("files");
  const [text, setText] = useState("");
  const [mentioned, setMentioned] = useState<readonly User[]>([]);
  const attachments = useAttachments();
  const { isBusy, error, forget, attempt } = useAttempts();
  const field = useRef<HTMLTextAreaElement>(null);
  const body = [text.trim(), ...attachments.lines].filter((line) => line !== "").join("\n");
  const isReady = body !== "" && !isBusy && !attachments.isUploading;

  const send = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!isReady) return;
    const named = mentioned.filter(({ name }) => isMentioned(text, name)).map(({ id }) => id);
    const mentions = [...new Set(named)];
    const sent = await attempt(() => create({ text: body, mentions, threadId, anchor }));
    if (sent === undefined) return;
    // Text that was typed meanwhile stays.
    setText((now) => (now === text ? "" : now));
    setMentioned([]);
    attachments.clear();
    onSent?.(sent);
  };
  return (
    <form className="atrium atrium-composer" onSubmit={send}>
      <Field
        label={label ?? (threadId === undefined ? texts.comment : texts.reply)}
        value={text}
        field={field}
        error={error}
        autoFocus={false}
        change={(changed) => {
          setText(changed);
          forget();
        }}
        submit={() => void send()}
        mention={(user) => setMentioned((before) => [...before, user])}
      />
      <AttachmentList {...attachments} />
      <div className="atrium-bar">
        <EmojiPicker
          label={texts.insertEmoji}
          pick={(emoji) => field.current && setText(insertInto(field.current, emoji))}
        />
        {mayAttach && <AttachButton add={attachments.add} />}
        <button type="submit" className="atrium-primary" disabled={!isReady}>
          {isBusy ? texts.sending : texts.send}
        </button>
      </div>
    </form>
  );
}
