/** Finds pages and rooms by name, for the command palette. */
import { Autocomplete } from "@base-ui/react/autocomplete";
import { useDeferredValue, useState } from "react";
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

export default function Finder({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState("");
  const targets = useTargets(useDeferredValue(text.slice(0, 256)));
  const [, go] = useLocation();
  return (
    <Autocomplete.Root
      inline
      open
      autoHighlight="always"
      items={targets}
      mode="none"
      value={text}
      onValueChange={setText}
      itemToStringValue={(target: Target) => target.label}
    >
      <Autocomplete.Input
        ref={focus}
        className="input"
        aria-label="Page or room"
        placeholder="Page or room"
      />
      <Autocomplete.Empty className="soft nothing-found">
        {targets.length === 0 && "No results."}
      </Autocomplete.Empty>
      <Autocomplete.List className="found">
        {(target: Target) => (
          <Autocomplete.Item
            key={target.id}
            value={target}
            onClick={() => {
              onClose();
              go(target.path);
            }}
          >
            <span>{target.label}</span>
            <span className="soft small">{target.kind}</span>
          </Autocomplete.Item>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}
