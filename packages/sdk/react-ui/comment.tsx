/** `Comment`: one comment with its author, its reactions, and what its reader may do with it. */
import { type ReactNode, useId, useRef, useState } from "react";
import type { Comment as CommentData, Mention } from "../client/index.ts";
import { useComments, useRoom, useRoomPermissions, useUsers } from "../react/index.ts";
import { Avatar } from "./avatar.tsx";
import { CommentText, useFileResolver, useMentions } from "./comment-text.tsx";
import { EmojiPicker } from "./emoji-picker.tsx";
import { Field } from "./field.tsx";
import { type Draft, draftOf, mentionsIn } from "./mentions.ts";
import { Question } from "./question.tsx";
import type { GroupResolver } from "./resolve.ts";
import { Failure, nameOf, useAttempts, useReturnedFocus, useUser } from "./room.tsx";
import { withFiles, withoutFiles } from "./text-parts.ts";
import { useTexts } from "./texts.ts";
import { Time } from "./time.tsx";

interface CommentProps {
  readonly comment: CommentData;
  /** False to keep an own comment, as the first of a thread with replies; true by default. */
  readonly canDelete?: boolean | undefined;
  /** True to show the comment without controls; false by default. */
  readonly readOnly?: boolean | undefined;
  /** Finds the names of mentioned groups, which are shown as mentions. */
  readonly resolveGroup?: GroupResolver | undefined;
}

type Mode = "reading" | "editing" | "deleting";

export function Comment(props: CommentProps): ReactNode {
  const { comment, canDelete = true, readOnly = false, resolveGroup } = props;
  const texts = useTexts();
  const { client } = useRoom();
  const author = useUser(comment.user_id);
  const mayComment = useRoomPermissions().canWrite("comments");
  const mayWrite = mayComment && !readOnly;
  const isOwn = comment.user_id === client.userId;
  const [mode, setMode] = useState<Mode>("reading");
  const nameId = useId();
  const edit = useRef<HTMLButtonElement>(null);
  const read = () => setMode("reading");
  useReturnedFocus(edit, mode !== "reading");
  const name = nameOf(author, texts);
  return (
    <article className="atrium atrium-comment" aria-labelledby={nameId}>
      <Avatar name={author === undefined ? "" : name} picture={author?.profile_picture} />
      <header>
        <b id={nameId}>{name}</b>
        {author?.kind && <small>{texts.kind(author.kind)}</small>}
        <Time at={comment.created_at} />
      </header>
      {mode === "editing" ? (
        <EditForm comment={comment} resolveGroup={resolveGroup} done={read} />
      ) : (
        <CommentText {...comment} resolveGroup={resolveGroup} />
      )}
      {mode === "deleting" && <DeleteForm commentId={comment.id} cancel={read} />}
      {mode === "reading" && (
        <div className="atrium-bar">
          <Reactions comment={comment} mayWrite={mayWrite} />
          {isOwn && mayWrite && (
            <span className="atrium-own">
              <button ref={edit} type="button" onClick={() => setMode("editing")}>
                {texts.edit}
              </button>
              {canDelete && (
                <button type="button" onClick={() => setMode("deleting")}>
                  {texts.delete}
                </button>
              )}
            </span>
          )}
        </div>
      )}
    </article>
  );
}

interface EditFormProps extends Pick<CommentProps, "comment" | "resolveGroup"> {
  done(): void;
}

/** Keeps the comment's mentions except for names that the edit touches, and mentions the users that are chosen. */
function EditForm({ comment, resolveGroup, done }: EditFormProps) {
  const texts = useTexts();
  const [, { update }] = useComments(comment.thread_id);
  const { text: before, files } = withoutFiles(comment.text, useFileResolver());
  const known = useMentions(comment, resolveGroup);
  const [draft, setDraft] = useState<Draft<string | Mention>>(() => draftOf(before, known));
  /** Mentions that the text does not name. */
  const [unnamed] = useState(() => {
    const named = mentionsIn(draft);
    return known.flatMap(({ mention }) => (named.includes(mention) ? [] : mention));
  });
  const { isBusy, error, forget, attempt } = useAttempts();
  const field = useRef<HTMLTextAreaElement>(null);
  const changed = withFiles(
    draft.text,
    files.map(({ line }) => line),
  );
  const isReady = changed !== "" && !isBusy;
  const save = async () => {
    if (!isReady) return;
    const mentions = [...new Set([...unnamed, ...mentionsIn(draft)])];
    const saved = await attempt(() => update({ commentId: comment.id, text: changed, mentions }));
    if (saved !== undefined) done();
  };
  return (
    <form
      className="atrium-composer"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field
        label={texts.comment}
        draft={draft}
        field={field}
        error={error}
        autoFocus
        change={(typed) => {
          setDraft(typed);
          forget();
        }}
        submit={() => void save()}
        cancel={done}
      />
      <div className="atrium-bar">
        <button type="button" onClick={done}>
          {texts.cancel}
        </button>
        <button type="submit" className="atrium-primary" disabled={!isReady}>
          {texts.save}
        </button>
      </div>
    </form>
  );
}

function DeleteForm({ commentId, cancel }: { readonly commentId: string; cancel(): void }) {
  const texts = useTexts();
  const { comments } = useRoom().client;
  const { attempt, ...attempts } = useAttempts();
  const act = () => void attempt(() => comments.delete({ commentId }));
  return (
    <Question {...attempts} answer={texts.delete} act={act} cancel={cancel}>
      {texts.confirmDelete}
    </Question>
  );
}

function Reactions({ comment, mayWrite }: { readonly comment: CommentData; readonly mayWrite: boolean }) {
  const texts = useTexts();
  const { client } = useRoom();
  const { error, attempt } = useAttempts();
  const userIds = [...new Set(Object.values(comment.reactions).flat())];
  const users = useUsers(userIds);
  const namesOf = (of: readonly string[]) =>
    of.map((userId) => nameOf(users[userIds.indexOf(userId)], texts));
  const react = (reaction: string, on: boolean) =>
    void attempt(() => client.comments.react({ commentId: comment.id, reaction, on }));
  return (
    <>
      {Object.entries(comment.reactions).map(([emoji, reacted]) => {
        const isOwn = reacted.includes(client.userId);
        const label = texts.reaction(emoji, namesOf(reacted));
        return (
          <button
            key={emoji}
            type="button"
            className="atrium-reaction"
            aria-pressed={isOwn}
            aria-label={label}
            title={label}
            disabled={!mayWrite}
            onClick={() => react(emoji, !isOwn)}
          >
            {emoji} {reacted.length}
          </button>
        );
      })}
      {mayWrite && <EmojiPicker label={texts.addReaction} pick={(emoji) => react(emoji, true)} />}
      <Failure error={error} />
    </>
  );
}
