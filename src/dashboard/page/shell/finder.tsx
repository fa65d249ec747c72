/** Finds pages, rooms, users and files by name, for the command palette. */
import type { AtriumServer } from "atrium/server";
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

/** The pages: those of the navigation, and parts of them. */
const PLACES: readonly Pick<Target, "label" | "path">[] = [
  ...NAVIGATION_ITEMS.map(({ name, path }) => ({ label: name, path })),
  { label: "Audit log", path: "/logs/audit" },
  { label: "API keys", path: "/settings" },
  { label: "Members", path: "/settings/members" },
  { label: "Quotas", path: "/settings/quotas" },
  { label: "Organization", path: "/settings/organization" },
  { label: "Profile", path: "/settings/profile" },
];

/** Of each kind. */
const FOUND = 8;

/** The room whose page is open; undefined on other pages. */
const roomIn = (path: string): string | undefined => /^\/rooms\/([^/]+)/.exec(path)?.[1];

/** Users of all rooms, those of the open room first. */
async function findUsers(atrium: AtriumServer, open: string | undefined, search: string): Promise<Target[]> {
  const part = { search, limit: FOUND };
  const [here, everywhere] = await Promise.all([
    open === undefined ? null : atrium.rooms.get(open, part),
    atrium.users.find(part),
  ]);
  const ofRoom = here?.users.map((user) => ({ ...user, room_name: here.room.name })) ?? [];
  const others = everywhere.users.filter(({ room_id: roomId }) => roomId !== open);
  return [...ofRoom, ...others].slice(0, FOUND).map(({ id, name, room_id: roomId, room_name: room }) => ({
    ...{ id, label: name, kind: `User of ${room}` },
    path: `/rooms/${roomId}/users/${id}`,
  }));
}

const NOTHING = { placeholderData: () => undefined }; // Enter must not open a result of an earlier search

function useTargets(search: string): Target[] {
  const [path] = useLocation();
  const open = roomIn(path);
  const rooms = useApiQuery(
    ["rooms", "palette", search],
    async (atrium) => (await atrium.rooms.list({ search, limit: FOUND })).rooms,
    NOTHING,
  );
  const users = useApiQuery(
    ["room", "palette users", open, search],
    (atrium) => findUsers(atrium, open, search),
    { ...NOTHING, enabled: search !== "" },
  );
  const files = useApiQuery(
    ["files", "palette", search],
    async (atrium) => (await atrium.files.find({ search, limit: FOUND })).files,
    { ...NOTHING, enabled: search !== "" },
  );
  const places = PLACES.filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()));
  return [
    ...places.map((place) => ({ ...place, id: place.path, kind: "Page" })),
    ...(rooms.data ?? []).map(({ id, name }) => ({ id, label: name, kind: "Room", path: `/rooms/${id}` })),
    ...(users.data ?? []),
    ...(files.data ?? []).map(({ key, filename, roomName }) => ({
      ...{ id: key, label: filename, kind: `File in ${roomName}` },
      path: `/files?q=${encodeURIComponent(filename)}`,
    })),
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
        aria-label="Page, room, user or file"
        aria-expanded={targets.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={`${id}-${chosen}`}
        placeholder="Page, room, user or file"
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
