/** Finds pages and rooms by name, for the command palette. */
import { type KeyboardEvent, useDeferredValue, useId, useState } from "react";
import { useLocation } from "wouter";
import { useApiQuery } from "../data/organization.tsx";
import { NAVIGATION_ITEMS } from "./shortcuts.tsx";

interface Target {
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  readonly path: string;
}

const FOUND_ROOMS = 8;

function useTargets(search: string): Target[] {
  const { data } = useApiQuery(
    ["rooms", "palette", search],
    ({ rooms }) => rooms.list({ search, limit: FOUND_ROOMS }),
    { placeholderData: () => undefined }, // Enter must not open a room of an earlier search
  );
  const places = NAVIGATION_ITEMS.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  return [
    ...places.map(({ name, path }) => ({ id: path, label: name, kind: "Page", path })),
    ...(data?.rooms ?? []).map(({ id, name }) => ({ id, label: name, kind: "Room", path: `/rooms/${id}` })),
  ];
}

/** It arrives after the dialog has opened, so it takes the focus by itself. */
const focus = (input: HTMLInputElement | null): void => input?.focus();
const reveal = (option: HTMLElement | null): void => option?.scrollIntoView({ block: "nearest" });

export default function Finder({ onClose }: { readonly onClose: () => void }) {
  const id = useId();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const targets = useTargets(useDeferredValue(text.slice(0, 256)));
  const [, go] = useLocation();
  const chosen = Math.min(at, targets.length - 1);
  const open = (target: Target | undefined) => {
    if (target === undefined) return;
    onClose();
    go(target.path);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") open(targets[chosen]);
    else if (step !== undefined) setAt((chosen + step + targets.length) % targets.length);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        ref={focus}
        className="input"
        role="combobox"
        aria-label="Page or room"
        aria-expanded={targets.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={`${id}-${chosen}`}
        placeholder="Page or room"
        autoComplete="off"
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <p className="soft nothing-found" role="status">
        {targets.length === 0 && "No results."}
      </p>
      {targets.length > 0 && (
        <div className="found" id={id} role="listbox" aria-label="Results">
          {targets.map((target, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the input has the focus
            <div
              key={target.id}
              id={`${id}-${index}`}
              ref={index === chosen ? reveal : undefined}
              role="option"
              aria-selected={index === chosen}
              data-highlighted={index === chosen ? "" : undefined}
              onPointerMove={() => setAt(index)}
              onClick={() => open(target)}
            >
              <span>{target.label}</span>
              <span className="soft small">{target.kind}</span>
            </div>
          ))}
        </div>
      )}
    </>
  );
}
