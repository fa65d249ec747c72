/** Finds pages, rooms, people and files by name, for the command palette. */
import type { AtriumServer, FoundUser } from "atrium/server";
import { useState } from "react";
import { useLocation } from "wouter";
import { orNull, useApiQuery } from "../data/organization.tsx";
import { useFound } from "../people/people.tsx";
import { Combobox, type Found } from "../ui/combobox.tsx";
import { NAVIGATION_ITEMS } from "./shortcuts.tsx";

interface Target extends Found {
  readonly path: string;
}

/** The pages: those of the navigation, and parts of them. */
const PLACES: readonly Pick<Target, "label" | "path">[] = [
  ...NAVIGATION_ITEMS.map(({ name, path }) => ({ label: name, path })),
  { label: "Groups", path: "/people/groups" },
  { label: "Audit log", path: "/logs/audit" },
  { label: "API keys", path: "/settings" },
  { label: "Members", path: "/settings/members" },
  { label: "Quotas", path: "/settings/quotas" },
  { label: "Organization", path: "/settings/organization" },
  { label: "Profile", path: "/settings/profile" },
  { label: "Sign-in", path: "/settings/sign-in" },
];

/** Results of each kind. */
const FOUND = 8;

/** The room whose page is open; undefined on other pages. */
const roomIn = (path: string): string | undefined => /^\/rooms\/([^/]+)/.exec(path)?.[1];

/** Each has 50,000 names: a search of more users than these ends before the last ones. */
const SEARCHED_PAGES = 10;

async function findEverywhere({ users }: AtriumServer, search: string): Promise<FoundUser[]> {
  const found: FoundUser[] = [];
  let after: string | null | undefined;
  for (let page = 0; page < SEARCHED_PAGES && after !== null && found.length < FOUND; page += 1) {
    const part = await users.find({ search, limit: FOUND, ...(after && { after }) });
    found.push(...part.users);
    after = part.cursor;
  }
  return found;
}

/** Users of all rooms, those of the open room first. */
async function findUsers(atrium: AtriumServer, open: string | undefined, search: string): Promise<Target[]> {
  const [here, everywhere] = await Promise.all([
    open === undefined ? null : orNull(atrium.rooms.get(open, { search, limit: FOUND })),
    findEverywhere(atrium, search),
  ]);
  const ofRoom = here?.users.map((user) => ({ ...user, room_name: here.room.name })) ?? [];
  const others = everywhere.filter(({ room_id: roomId }) => roomId !== open);
  return [...ofRoom, ...others].slice(0, FOUND).map(({ id, name, room_id: roomId, room_name: room }) => ({
    ...{ id, label: name, note: `User of ${room}` },
    path: `/rooms/${roomId}/users/${id}`,
  }));
}

const NOTHING = { placeholderData: () => undefined }; // Enter must not open a result of an earlier search

function useTargets(search: string) {
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
  const identities = useFound("identities", search, search !== "");
  const groups = useFound("groups", search, search !== "");
  const files = useApiQuery(
    ["files", "palette", search],
    async (atrium) => (await atrium.files.find({ search, limit: FOUND })).files,
    { ...NOTHING, enabled: search !== "" },
  );
  const places = PLACES.filter(({ label }) => label.toLowerCase().includes(search.toLowerCase()));
  const items: Target[] = [
    ...places.map((place) => ({ ...place, id: place.path, note: "Page" })),
    ...(rooms.data ?? []).map(({ id, name, custom_id }) => ({
      id,
      label: name,
      note: ["Room", custom_id].filter(Boolean).join(" · "),
      path: `/rooms/${id}`,
    })),
    ...(identities.data ?? []).map((found) => ({ ...found, path: `/people/identities/${found.id}` })),
    ...(groups.data ?? []).map((found) => ({ ...found, path: `/people/groups/${found.id}` })),
    ...(users.data ?? []),
    ...(files.data ?? []).map(({ key, filename, roomName }) => ({
      ...{ id: key, label: filename, note: `File in ${roomName}` },
      path: `/files?q=${encodeURIComponent(filename)}`,
    })),
  ];
  return { items, isSearching: [rooms, users, identities, groups, files].some(({ isLoading }) => isLoading) };
}

export default function Finder({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState("");
  const found = useTargets(text);
  const [, go] = useLocation();
  const open = ({ path }: Target) => {
    onClose();
    go(path);
  };
  return (
    <Combobox label="Page, room, person or file" {...{ text, ...found }} onText={setText} onChoose={open} />
  );
}
