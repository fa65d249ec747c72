/** The field for the text of a comment, with the list of users that opens after an `@`. */
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useReducer,
  useRef,
  useState,
} from "react";
import type { User } from "../client/index.ts";
import { isComposing } from "../core/input-method.ts";
import { useRoom } from "../react/index.ts";
import { Avatar } from "./avatar.tsx";
import { type Draft, edited, matchesOf, mentionAt, type TypedMention } from "./mentions.ts";
import { useTexts } from "./texts.ts";

const MAX_LENGTH = 10_000;
const MIN_ROWS = 2;
const MAX_ROWS = 8;

interface FieldProps<Who> {
  readonly label: string;
  readonly draft: Draft<Who>;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly error: string | null;
  readonly autoFocus: boolean;
  change(draft: Draft<Who | string>): void;
  submit(): void;
  cancel?(): void;
}

/** Replaces the selection of a field, or all since `start`, and puts the caret behind the new text. */
export function insertInto<Who>(
  field: HTMLTextAreaElement,
  draft: Draft<Who>,
  text: string,
  start = field.selectionStart,
): Draft<Who> {
  const replaced = { start, end: field.selectionEnd };
  field.setRangeText(text, start, replaced.end, "end");
  field.focus();
  return edited(draft, field.value, field.selectionStart, replaced);
}

/** Names have no more characters. */
const MAX_NAME = 255;

/**
 * The other users of the room whom the client knows. The service looks for the name that is being typed, unless all
 * users are loaded. Answers only add users, so a late one takes no one out of the list.
 */
function useOtherUsers(typed: string | undefined): readonly User[] {
  const { client } = useRoom();
  const { users } = client;
  const [, render] = useReducer((renders: number) => renders + 1, 0);
  useEffect(() => {
    if (!(typed?.trim() && users.hasMore)) return;
    const outdated = new AbortController();
    const { signal } = outdated;
    // A name is stored as it was written: an input method can have another width.
    const searches = new Set([typed, typed.normalize("NFKC")]);
    for (const search of searches)
      if (search.length <= MAX_NAME)
        users.find({ search, signal }).then(render, (error) => signal.aborted || client.report(error));
    return () => outdated.abort();
  }, [client, users, typed]);
  return users.getAll().filter(({ id }) => id !== client.userId);
}

export function Field<Who>(props: FieldProps<Who>): ReactNode {
  const { label, draft, field, error, autoFocus, change, submit, cancel } = props;
  const { text: value } = draft;
  const id = useId();
  const texts = useTexts();
  const [caret, setCaret] = useState(0);
  const [active, setActive] = useState(0);
  const [closed, setClosed] = useState<TypedMention | null>(null);
  const selected = useRef({ start: 0, end: 0 });
  const typed = mentionAt(value, caret);
  const isClosed =
    draft.mentions.some(({ start }) => start === typed?.start) ||
    (typed?.start === closed?.start && typed?.name.startsWith(closed?.name ?? ""));
  const name = typed === null || isClosed ? undefined : typed.name;
  const users = useOtherUsers(name);
  const found = name === undefined ? [] : matchesOf(users, name);
  const chosen = found[Math.min(active, found.length - 1)];

  const pick = (user: User) => {
    if (field.current === null || typed === null) return;
    const { start } = typed;
    const { text, mentions } = insertInto(field.current, draft, `@${user.name} `, start);
    change({ text, mentions: [...mentions, { start, end: start + 1 + user.name.length, who: user.id }] });
    setCaret(field.current.selectionStart);
  };
  /** The keys of the open list; returns whether the key was one of them. */
  const choose = (key: string): boolean => {
    if (chosen === undefined) return false;
    const step = { ArrowDown: 1, ArrowUp: found.length - 1 }[key];
    if (step !== undefined) setActive((found.indexOf(chosen) + step) % found.length);
    else if (key === "Enter" || key === "Tab") pick(chosen);
    else if (key === "Escape") setClosed(typed);
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, shiftKey, nativeEvent } = event;
    if (isComposing(nativeEvent) || shiftKey) return;
    const isHandled = choose(key);
    if (!isHandled && key === "Enter") submit();
    else if (!isHandled && key === "Escape" && cancel) cancel();
    else if (!isHandled) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="atrium-field">
      <label htmlFor={id} className="atrium-hidden">
        {label}
      </label>
      <textarea
        id={id}
        ref={field}
        dir="auto"
        // biome-ignore lint/a11y/noAutofocus: the person has just asked to edit
        autoFocus={autoFocus}
        rows={Math.min(MAX_ROWS, Math.max(MIN_ROWS, value.split("\n").length))}
        placeholder={label}
        maxLength={MAX_LENGTH}
        value={value}
        aria-invalid={error !== null}
        aria-describedby={`${id}-error`}
        aria-autocomplete="list"
        aria-controls={chosen && `${id}-users`}
        aria-activedescendant={chosen && `${id}-${chosen.id}`}
        onChange={({ target }) => {
          const { selectionStart: end } = target;
          change(edited(draft, target.value, end, selected.current));
          selected.current = { start: end, end };
          setCaret(end);
          setActive(0);
        }}
        onSelect={({ currentTarget }) => {
          const { selectionStart: start, selectionEnd: end } = currentTarget;
          selected.current = { start, end };
          setCaret(start);
        }}
        onBlur={() => setClosed(typed)}
        onKeyDown={onKeyDown}
      />
      <span role="status" className="atrium-hidden">
        {chosen && texts.matches(found.length)}
      </span>
      {chosen && (
        <div role="listbox" id={`${id}-users`} aria-label={texts.mentions} className="atrium-users">
          {found.map((user) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: its keys are those of the field
            <div
              key={user.id}
              id={`${id}-${user.id}`}
              role="option"
              aria-selected={user === chosen}
              tabIndex={-1}
              onMouseDown={(event) => event.preventDefault()} // the field keeps the focus
              onClick={() => pick(user)}
            >
              <Avatar name={user.name} picture={user.profile_picture} />
              {user.name}
            </div>
          ))}
        </div>
      )}
      <p id={`${id}-error`} role="alert" className="atrium-error">
        {error}
      </p>
    </div>
  );
}
