/** The groups of operations that the API reference lists: the document's tags, of which rooms have several. */
import { type Described, type Entry, entriesOf } from "./model.ts";

export interface Group {
  readonly name: string;
  readonly description: string | undefined;
  readonly entries: readonly Entry[];
}

/** Parts of rooms by what follows the room in the path. */
const ROOM_PARTS: Readonly<Record<string, string>> = {
  stores: "Stores",
  downloads: "Stores",
  documents: "Documents",
  comments: "Comments",
  socket: "Live rooms",
  broadcast: "Live rooms",
  presence: "Live rooms",
  participants: "Live rooms",
};

function groupOf({ path, operation }: Entry): string {
  const tag = operation.tags?.[0] ?? "Other";
  const [, part = ""] = /\/rooms\/\{roomId\}\/(\w+)/.exec(path) ?? [];
  return tag === "Rooms" ? (ROOM_PARTS[part] ?? tag) : tag;
}

/** In the order of the document's operations. */
export function groupsOf(described: Described): Group[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entriesOf(described)) {
    const name = groupOf(entry);
    groups.set(name, [...(groups.get(name) ?? []), entry]);
  }
  const descriptions = new Map(described.tags?.map(({ name, description }) => [name, description]));
  return [...groups].map(([name, entries]) => ({ name, description: descriptions.get(name), entries }));
}
