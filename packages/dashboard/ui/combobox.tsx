/** A field whose text finds things, and the list of those found, from which one is chosen. */

import { isComposing } from "atrium/internal/input-method";
import { type ChangeEvent, type KeyboardEvent, useId, useState } from "react";
import { Icon } from "./button.tsx";

export interface Found {
  readonly id: string;
  readonly label: string;
  /** Additional text, such as the kind of the item. */
  readonly note: string;
}

interface ComboboxProps<Item extends Found> {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** The options found so far; undefined before the first answer. */
  readonly items: readonly Item[] | undefined;
  /** True while others may be found. */
  readonly isSearching: boolean;
  readonly onChoose: (item: Item) => void;
}

const reveal = (option: HTMLElement | null): void => option?.scrollIntoView({ block: "nearest" });

/** The field's attributes and its list: arrow keys move between the options, Enter and a click choose one. */
function useOptions<Item extends Found>({ label, text, onText, items = [], onChoose }: ComboboxProps<Item>) {
  const id = useId();
  const [at, setAt] = useState(0);
  const current = Math.min(at, items.length - 1);
  const choose = (item: Item | undefined) => item !== undefined && onChoose(item);
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") choose(items[current]);
    else if (step !== undefined && items.length > 0) setAt((current + step + items.length) % items.length);
    else return;
    event.preventDefault();
  };
  const input = {
    className: "input",
    role: "combobox",
    "aria-label": label,
    "aria-autocomplete": "list",
    "aria-controls": id,
    "aria-expanded": items.length > 0,
    "aria-activedescendant": items.length > 0 ? `${id}-${current}` : undefined,
    placeholder: label,
    autoComplete: "off",
    maxLength: 256,
    value: text,
    onChange: ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
      onText(currentTarget.value);
      setAt(0);
    },
    onKeyDown,
  } as const;
  const options = items.map((item, index) => (
    // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the input has the focus
    <div
      key={item.id}
      id={`${id}-${index}`}
      ref={index === current ? reveal : undefined}
      role="option"
      aria-selected={index === current}
      data-highlighted={index === current ? "" : undefined}
      onPointerMove={() => setAt(index)}
      onClick={() => choose(item)}
    >
      <span>{item.label}</span>
      <span className="soft small">{item.note}</span>
    </div>
  ));
  return { id, input, options };
}

const sayNone = ({ isSearching }: Pick<ComboboxProps<Found>, "isSearching">): string =>
  isSearching ? "Searching…" : "No results.";

/** Focuses the field, which is rendered after the dialog has opened. */
const focus = (input: HTMLInputElement | null): void => input?.focus();

/** The content of a dialog, with the list below the field. */
export function Combobox<Item extends Found>(props: ComboboxProps<Item>) {
  const { id, input, options } = useOptions(props);
  return (
    <>
      <input {...input} ref={focus} />
      <p className="soft nothing-found" role="status">
        {options.length === 0 && sayNone(props)}
      </p>
      {options.length > 0 && (
        <div className="found" id={id} role="listbox" aria-label="Results">
          {options}
        </div>
      )}
    </>
  );
}

interface PickerProps<Item extends Found> extends ComboboxProps<Item> {
  /** `plus` where the choice is added to something. */
  readonly icon: "plus" | "search";
}

/** A field of a page: its list is over the page while the person looks for something, and the field is empty after. */
export function Picker<Item extends Found>({ icon, onChoose, ...props }: PickerProps<Item>) {
  const { onText, items, isSearching } = props;
  const [isOpen, setOpen] = useState(false);
  const end = () => {
    setOpen(false);
    onText("");
  };
  const { id, input, options } = useOptions({
    ...props,
    items: isOpen ? items : [],
    onChoose: (item) => {
      end();
      onChoose(item);
    },
  });
  const isEmpty = isOpen && options.length === 0 && (isSearching || items !== undefined);
  return (
    <div className="search">
      <Icon name={icon} />
      <input
        {...input}
        data-shortcut={icon === "plus" ? "new" : "search"}
        onClick={() => setOpen(true)}
        onFocus={() => setOpen(true)}
        onBlur={end}
        onChange={(event) => {
          input.onChange(event);
          setOpen(true);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape" && !isComposing(event.nativeEvent)) end();
          else setOpen(true);
          input.onKeyDown(event);
        }}
      />
      <p className={isEmpty ? "menu soft" : "hidden"} role="status">
        {isEmpty && sayNone(props)}
      </p>
      {options.length > 0 && (
        <div
          className="menu found"
          id={id}
          role="listbox"
          aria-label="Results"
          onPointerDown={(event) => event.preventDefault()}
          onMouseDown={(event) => event.preventDefault()}
        >
          {options}
        </div>
      )}
    </div>
  );
}
