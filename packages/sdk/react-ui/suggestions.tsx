/** `Suggestions`: the suggestions of a document, their changes, and the decision about each. */
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react";
import { useRoom, useRoomPermissions, useSuggestion, useSuggestions, useUsers } from "../react/index.ts";
import type { SuggestedPart, Suggestion } from "../wire/resources.ts";
import { Question } from "./question.tsx";
import { Failure, LoadFailure, nameOf, useAttempts, useReturnedFocus } from "./room.tsx";
import { shownTexts } from "./suggested-text.ts";
import { useTexts } from "./texts.ts";
import { Time } from "./time.tsx";

type TextType = "text" | "xml";

interface SuggestionsProps {
  /** The name of the document. */
  readonly document: string;
  /** `xml` for the documents of editors, whose tags are shown as lines; `text` by default. */
  readonly type?: TextType | undefined;
}

const isPending = ({ status }: Suggestion): boolean => status === "pending";

/** The suggestions of a document: those that wait for a review first. */
export function Suggestions({ document, type = "text" }: SuggestionsProps): ReactNode {
  const texts = useTexts();
  const [{ suggestions, isLoading, error }, { reload }] = useSuggestions(document);
  const [shown, setShown] = useState<string | null>(null);
  const [result, setResult] = useState("");
  const section = useRef<HTMLElement>(null);
  const listed = [...suggestions.filter(isPending), ...suggestions.filter((each) => !isPending(each))];
  return (
    <section
      ref={section}
      tabIndex={-1}
      className="atrium atrium-suggestions"
      aria-label={texts.suggestions}
      aria-busy={isLoading}
    >
      <p role="status" className="atrium-hidden">
        {result}
      </p>
      {isLoading && <p className="atrium-none">{texts.loading}</p>}
      <LoadFailure error={error} reload={reload} />
      {!isLoading && error === null && listed.length === 0 && (
        <p className="atrium-none">{texts.noSuggestions}</p>
      )}
      <ol>
        {listed.map((suggestion) => (
          <SuggestionItem
            key={suggestion.id}
            suggestion={suggestion}
            type={type}
            isShown={shown === suggestion.id}
            toggle={() => setShown(shown === suggestion.id ? null : suggestion.id)}
            say={setResult}
            withdrawn={() => section.current?.focus()}
          />
        ))}
      </ol>
    </section>
  );
}

interface SuggestionItemProps {
  readonly suggestion: Suggestion;
  readonly type: TextType;
  readonly isShown: boolean;
  toggle(): void;
  /** Tells the reader what was done. */
  say(result: string): void;
  withdrawn(): void;
}

function SuggestionItem({ suggestion, type, isShown, toggle, say, withdrawn }: SuggestionItemProps) {
  const texts = useTexts();
  const author = useAuthor(suggestion.author);
  const reviewer = useAuthor(suggestion.reviewed_by);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const { title, status, created_at, reviewed_at, comment } = suggestion;
  /** Whether this reader is deciding, whose button goes with the decision. */
  const isDeciding = useRef(false);
  useEffect(() => {
    if (status !== "pending" && isDeciding.current) button.current?.focus();
  }, [status]);
  return (
    <li>
      <div className="atrium-bar">
        <span id={id}>
          <b>{title ?? texts.untitledSuggestion}</b>
          <small>
            {author?.name}
            {author?.kind && <em>{texts.kind(author.kind)}</em>}
            <Time at={created_at} />
          </small>
          {reviewed_at !== null && (
            <small>
              <span data-status={status}>{texts.suggestionStatus(status, reviewer?.name ?? null)}</span>
              <Time at={reviewed_at} />
            </small>
          )}
        </span>
        <span className="atrium-own">
          <button ref={button} type="button" aria-expanded={isShown} aria-describedby={id} onClick={toggle}>
            {texts.showChanges}
          </button>
        </span>
      </div>
      {comment !== null && <p className="atrium-text">{comment}</p>}
      {isShown && <Changes {...{ suggestion, type, say, withdrawn, isDeciding }} />}
    </li>
  );
}

/** The name and the kind of an author; null for none. */
function useAuthor(author: Suggestion["author"] | null) {
  const texts = useTexts();
  const [user] = useUsers(author?.type === "user" && author.id !== null ? [author.id] : []);
  if (author === null) return null;
  if (author.type !== "user") return { name: texts.authorKind(author.type), kind: undefined };
  return { name: nameOf(user, texts), kind: user?.kind };
}

interface ChangesProps extends Pick<SuggestionItemProps, "suggestion" | "type" | "say" | "withdrawn"> {
  readonly isDeciding: RefObject<boolean>;
}

function Changes({ suggestion, type, ...decision }: ChangesProps) {
  const texts = useTexts();
  const { read, isLoading, error, reload } = useSuggestion(suggestion);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  /** The reader chooses among the parts of this number. */
  const [seen, setSeen] = useState<number | null>(null);
  const seq = read?.seq ?? null;
  const mayWrite = useRoomPermissions().canWrite("documents");
  const isOpen = isPending(suggestion) && read?.suggestion.reviewed_at === null;
  const hasChanged = isOpen && seen !== null && seq !== seen;
  const { say } = decision;
  useEffect(() => {
    if (seq !== null) setSeen((before) => before ?? seq);
  }, [seq]);
  useEffect(() => {
    if (hasChanged) say(texts.suggestionChanged);
  }, [hasChanged, say, texts]);
  if (read === null) return isLoading ? texts.loading : <LoadFailure error={error} reload={reload} />;
  const { parts } = read;
  const isAccepted = ({ id, state }: SuggestedPart) => state === "pending" && !left.has(id);
  const accepted = parts.filter(isAccepted).map(({ id }) => id);
  const isAll = accepted.length > 0 && accepted.length === parts.length;
  const choose = ({ id }: SuggestedPart) => {
    const next = new Set(left);
    if (!next.delete(id)) next.add(id);
    setLeft(next);
    setSeen(seq);
  };
  return (
    <>
      {hasChanged && (
        <p className="atrium-notice">
          <span aria-hidden="true">{texts.suggestionChanged}</span>{" "}
          {mayWrite && (
            <button type="button" onClick={() => setSeen(seq)}>
              {texts.chooseAgain}
            </button>
          )}
        </p>
      )}
      {parts.length === 0 && <p className="atrium-none">{texts.noSuggestedChanges}</p>}
      <ul className="atrium-parts" aria-label={texts.suggestedChanges}>
        {parts.map((part) => (
          <li key={part.id}>
            {isOpen && mayWrite ? (
              <label>
                <input
                  type="checkbox"
                  checked={isAccepted(part)}
                  disabled={part.state !== "pending"}
                  onChange={() => choose(part)}
                />
                <Change part={part} type={type} />
              </label>
            ) : (
              <Change part={part} type={type} />
            )}
          </li>
        ))}
      </ul>
      {isOpen && (
        <Decision
          {...decision}
          suggestion={suggestion}
          mayWrite={mayWrite}
          seq={seen ?? read.seq}
          hasChanged={hasChanged}
          accepted={isAll ? "all" : accepted}
          failed={reload}
        />
      )}
    </>
  );
}

function Change({ part, type }: { readonly part: SuggestedPart; readonly type: TextType }) {
  const texts = useTexts();
  const { before, after, context } = shownTexts(part, type);
  const { state, kind, path } = part;
  return (
    <span className="atrium-part" data-state={state}>
      <span className="atrium-changes" dir="auto">
        {kind === "set" && <b>{path.join(" / ")} </b>}
        <span>{context.before}</span>
        {before !== "" && <del>{before}</del>}
        {after !== "" && <ins>{after}</ins>}
        <span>{context.after}</span>
      </span>
      {state !== "pending" && <small>{texts.changeState(state)}</small>}
    </span>
  );
}

type ReviewedParts = "all" | readonly string[];

interface DecisionProps extends Omit<ChangesProps, "type"> {
  readonly mayWrite: boolean;
  readonly seq: number;
  /** The reader has not chosen among the present parts. */
  readonly hasChanged: boolean;
  /** The chosen parts. */
  readonly accepted: ReviewedParts;
  failed(): void;
}

function Decision(props: DecisionProps) {
  const { suggestion, mayWrite, seq, hasChanged, accepted, say, withdrawn, isDeciding, failed } = props;
  const texts = useTexts();
  const { client } = useRoom();
  const [, actions] = useSuggestions(suggestion.document);
  const { attempt, ...attempts } = useAttempts();
  const [asking, setAsking] = useState<"reject" | "withdraw" | null>(null);
  /** The button that asks. */
  const asker = useRef<HTMLButtonElement>(null);
  const { id, author } = suggestion;
  const isOwn = author.type === "user" && author.id === client.userId;
  useReturnedFocus(asker, asking !== null);
  const decide = async (action: () => Promise<unknown>, result: string) => {
    isDeciding.current = true;
    const done = await attempt(async () => {
      await action();
      return true;
    });
    isDeciding.current = false;
    if (done) say(result);
    else failed();
    return done;
  };
  const review = (accept: ReviewedParts, result: string) =>
    void decide(() => actions.review(id, { seq, accept }), result);
  const withdraw = async () => {
    if (await decide(() => actions.withdraw(id), texts.suggestionWithdrawn)) withdrawn();
  };
  const cancel = () => {
    attempts.forget();
    setAsking(null);
  };
  if (asking === "reject")
    return (
      <Question
        {...attempts}
        answer={texts.reject}
        act={() => review([], texts.suggestionRejected)}
        cancel={cancel}
      >
        {texts.confirmReject}
      </Question>
    );
  if (asking === "withdraw")
    return (
      <Question {...attempts} answer={texts.withdraw} act={() => void withdraw()} cancel={cancel}>
        {texts.confirmWithdraw}
      </Question>
    );
  return (
    <div className="atrium-bar">
      {isOwn && (
        <button ref={mayWrite ? undefined : asker} type="button" onClick={() => setAsking("withdraw")}>
          {texts.withdraw}
        </button>
      )}
      {mayWrite && (
        <>
          <button ref={asker} type="button" disabled={hasChanged} onClick={() => setAsking("reject")}>
            {texts.reject}
          </button>
          <button
            type="button"
            className="atrium-primary"
            disabled={attempts.isBusy || hasChanged || accepted.length === 0}
            onClick={() => review(accepted, texts.suggestionAccepted)}
          >
            {accepted === "all" ? texts.accept : texts.acceptSelected}
          </button>
        </>
      )}
      <Failure error={attempts.error} />
    </div>
  );
}
