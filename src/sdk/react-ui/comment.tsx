/** `Comment`: one comment with its author, its reactions, and what its reader may do with it. */
import { type ReactNode, useId, useRef, useState } from "react";
import type { Comment as CommentData, User } from "../client/index.ts";
import { useComments, useRoom, useRoomPermissions } from "../react/index.ts";
import { Avatar } from "./avatar.tsx";
import { CommentText, useIsFile, useMentions } from "./comment-text.tsx";
import { EmojiPicker } from "./emoji-picker.tsx";
import { Field } from "./field.tsx";
import { isUnmentioned, mentionsIn, withFiles, withoutFiles } from "./mentions.ts";
import type { GroupResolver } from "./resolve.ts";
import { Failure, useAttempts, useReturnedFocus, useUser } from "./room.tsx";
import { useTexts } from "./texts.ts";

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
  const name = author?.name ?? texts.deletedUser;
  return (
    <article className="atrium atrium-comment" aria-labelledby={nameId}>
      <Avatar name={name} picture={author?.profile_picture} />
      <header>
        <b id={nameId}>{name}</b>
        <time dateTime={comment.created_at}>{texts.time(new Date(comment.created_at))}</time>
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

/** Keeps what the comment mentions except for names that the edit removes, and mentions the users that are chosen. */
function EditForm({ comment, resolveGroup, done }: EditFormProps) {
  const texts = useTexts();
  const [, { update }] = useComments(comment.thread_id);
  const { text: before, files } = withoutFiles(comment.text, useIsFile());
  const [text, setText] = useState(before);
  const [chosen, setChosen] = useState<readonly User[]>([]);
  const known = useMentions(comment, resolveGroup);
  const { isBusy, error, forget, attempt } = useAttempts();
  const field = useRef<HTMLTextAreaElement>(null);
  const changed = withFiles(text, files);
  const isReady = changed !== "" && !isBusy;
  const save = async () => {
    if (!isReady) return;
    const kept = known.filter(({ name }) => !isUnmentioned(before, text, name));
    const mentions = [...new Set([...kept.map(({ mention }) => mention), ...mentionsIn(text, chosen)])];
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
        value={text}
        field={field}
        error={error}
        autoFocus
        change={(typed) => {
          setText(typed);
          forget();
        }}
        submit={() => void save()}
        cancel={done}
        mention={(user) => setChosen((earlier) => [...earlier, user])}
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
  const { isBusy, error, attempt } = useAttempts();
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would look like one
    <div role="group" aria-labelledby={id} className="atrium-bar">
      <span id={id}>{texts.confirmDelete}</span>
      <button
        type="button"
        className="atrium-danger"
        disabled={isBusy}
        // biome-ignore lint/a11y/noAutofocus: the person has just asked to delete
        autoFocus
        onClick={() => void attempt(() => comments.delete({ commentId }))}
      >
        {texts.delete}
      </button>
      <button type="button" onClick={cancel}>
        {texts.cancel}
      </button>
      <Failure error={error} />
    </div>
  );
}

function Reactions({ comment, mayWrite }: { readonly comment: CommentData; readonly mayWrite: boolean }) {
  const texts = useTexts();
  const { client } = useRoom();
  const { error, attempt } = useAttempts();
  const nameOf = (userId: string) => client.users.get({ userId })?.name ?? texts.deletedUser;
  const react = (reaction: string, on: boolean) =>
    void attempt(() => client.comments.react({ commentId: comment.id, reaction, on }));
  return (
    <>
      {Object.entries(comment.reactions).map(([emoji, userIds]) => {
        const isOwn = userIds.includes(client.userId);
        const label = texts.reaction(emoji, userIds.map(nameOf));
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
            {emoji} {userIds.length}
          </button>
        );
      })}
      {mayWrite && <EmojiPicker label={texts.addReaction} pick={(emoji) => react(emoji, true)} />}
      <Failure error={error} />
    </>
  );
}
