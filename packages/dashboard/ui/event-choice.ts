/** The events of a choice: their groups in words, presets, and a search. Pure. */

import { EVENTS, isEventName } from "../data/events.ts";

export type EventOf = keyof typeof EVENTS;

const resourceOf = (name: string): string => name.split(".")[0] ?? name;

const GROUPS: readonly { readonly title: string; readonly of: readonly string[] }[] = [
  { title: "People who come and go", of: ["participant", "session"] },
  { title: "Users", of: ["user"] },
  { title: "Comments, threads and mentions", of: ["comment", "thread", "agent"] },
  { title: "Stores, documents and suggestions", of: ["store", "document", "version", "suggestion"] },
  { title: "Files", of: ["file"] },
  { title: "Rooms and access", of: ["room", "access"] },
  { title: "Identities and groups", of: ["identity", "group"] },
  { title: "Notifications and warnings", of: ["notification", "webhook", "workflow"] },
];

const isOfAny = (resources: readonly string[]) => (name: string) => resources.includes(resourceOf(name));

const PRESETS: readonly { readonly title: string; readonly has: (name: string) => boolean }[] = [
  { title: "Everything in rooms", has: isEventName },
  { title: "People come and go", has: isOfAny(["participant", "session"]) },
  { title: "Comments", has: isOfAny(["comment", "thread", "agent"]) },
  { title: "Content", has: isOfAny(["store", "document", "version", "suggestion", "file"]) },
  { title: "Identities", has: isOfAny(["identity", "group"]) },
];

interface Events<Name> {
  readonly title: string;
  readonly names: readonly Name[];
}

const isSome = ({ names }: Events<unknown>): boolean => names.length > 0;

/** Common choices among these events. */
export const presetsOf = <Name extends string>(names: readonly Name[]): readonly Events<Name>[] =>
  PRESETS.map(({ title, has }) => ({ title, names: names.filter(has) })).filter(isSome);

/** The events that a search finds by name, sentence or group, in their groups. All words have to be found. */
export function findEvents<Name extends EventOf>(
  names: readonly Name[],
  search: string,
): readonly Events<Name>[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return GROUPS.map(({ title, of }) => ({
    title,
    names: names.filter((name) => {
      const text = `${name} ${EVENTS[name]} ${title}`.toLowerCase();
      return of.includes(resourceOf(name)) && words.every((word) => text.includes(word));
    }),
  })).filter(isSome);
}
