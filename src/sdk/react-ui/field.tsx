/** The field for the text of a comment, with the list of users that opens after an `@`. */
import { type KeyboardEvent, type ReactNode, type RefObject, useId, useState } from "react";
import { isComposing } from "../../platform/input-method.ts";
import type { User } from "../client/index.ts";
import { useRoom } from "../react/index.ts";
import { Avatar } from "./avatar.tsx";
import { matchesOf, mentionAt, type TypedMention } from "./mentions.ts";
import { useTexts } from "./texts.ts";

const MAX_LENGTH = 10_000;
const MIN_ROWS = 2;
const MAX_ROWS = 8;

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly error: string | null;
  readonly autoFocus: boolean;
  change(value: string): void;
  submit(): void;
  cancel?(): void;
  /** A user was chosen; without it, `@` is text like any other. */
  mention?: ((user: User) => void) | undefined;
}

/** Replaces the selection of a field and puts the caret behind the new text. */
export function insertInto(field: HTMLTextAreaElement, text: string, start = field.selectionStart): string {
  field.setRangeText(text, start, field.selectionEnd, "end");
  field.focus();
  return field.value;
}

export function Field(props: FieldProps): ReactNode {
  const { label, value, field, error, autoFocus, change, submit, cancel, mention } = props;
  const id = useId();
  const texts = useTexts();
  const { client } = useRoom();
  const [caret, setCaret] = useState(0);
  const [active, setActive] = useState(0);
  const [closed, setClosed] = useState<TypedMention | null>(null);
  const typed = mention === undefined ? null : mentionAt(value, caret);
  const isClosed = typed?.start === closed?.start && typed?.name.startsWith(closed?.name ?? "");
  const users = client.users.getAll().filter((user) => user.id !== client.userId);
  const found = typed === null || isClosed ? [] : matchesOf(users, typed.name);
  const chosen = found[Math.min(active, found.length - 1)];

  const pick = (user: User) => {
    if (field.current === null || typed === null) return;
    change(insertInto(field.current, `@${user.name} `, typed.start));
    setCaret(field.current.selectionStart);
    setClosed({ start: typed.start, name: user.name });
    mention?.(user);
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
        aria-autocomplete={mention && "list"}
        aria-controls={chosen && `${id}-users`}
        aria-activedescendant={chosen && `${id}-${chosen.id}`}
        onChange={({ target }) => {
          change(target.value);
          setCaret(target.selectionStart);
          setActive(0);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onBlur={() => setClosed(typed)}
        onKeyDown={onKeyDown}
      />
      {mention && (
        <span role="status" className="atrium-hidden">
          {chosen && texts.matches(found.length)}
        </span>
      )}
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
