/** The timeline of a room: its latest events from several sources, a sentence for each. Pure. */

import type { DocumentSummary } from "@atrium/contract/rest/documents.ts";
import type { EventPage } from "@atrium/contract/rest/event-log.ts";
import { joinNames } from "../data/messages.ts";

type LoggedEvent = EventPage["events"][number];

/** A broadcast, or a write to a store, as a room sends it to everyone. */
export type FeedItem =
  | { readonly type: "broadcast"; readonly event: string; readonly data: unknown; readonly by: string | null }
  | {
      readonly type: "write";
      readonly store: string;
      readonly key: string;
      readonly isDeletion: boolean;
      readonly value: unknown;
      /** The user; null for a back end. */
      readonly by: string | null;
    };

/** The kinds of events in a timeline. */
export const KINDS = {
  presence: "Presence",
  sessions: "Sessions",
  users: "Users",
  stores: "Stores",
  documents: "Documents",
  comments: "Comments",
  broadcasts: "Broadcasts",
  files: "Files",
  room: "Room",
} as const;
type Kind = keyof typeof KINDS;

export interface StreamItem {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly kind: Kind;
  /** The event as a sentence without its full stop. */
  readonly text: string;
  /** The user who did it, or whom it is about; null for a back end. */
  readonly userId: string | null;
  /** All that is known of it. */
  readonly value: unknown;
}

/** Older ones are left out. */
export const MAX_ITEMS = 100;

const BACK_END = "The back end";
const MAX_QUOTED = 200;

/** A text of a user in quotation marks, cut if it is long. */
const quote = (text: string): string =>
  `“${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text}”`;

type NameOf = (userId: string) => string;

/** The item of a broadcast or a write, which has just arrived. */
export function itemOfFeed(item: FeedItem, at: Date, number: number, nameOf: NameOf): StreamItem {
  const common = { id: `live ${number}`, at: at.toISOString(), userId: item.by };
  const who = item.by === null ? BACK_END : nameOf(item.by);
  if (item.type === "broadcast") {
    const { event, data } = item;
    return { ...common, kind: "broadcasts", text: `${who} broadcast ${event}`, value: { event, data } };
  }
  const { store, key, value, isDeletion } = item;
  const text = isDeletion ? `${who} deleted ${key} from ${store}` : `${who} set ${key} in ${store}`;
  return { ...common, kind: "stores", text, value: isDeletion ? { store, key } : { store, key, value } };
}

const KIND_OF: Readonly<Record<string, Kind>> = {
  ...{ participant: "presence", session: "sessions", user: "users", comment: "comments", store: "stores" },
  ...{ document: "documents", version: "documents", file: "files" },
};

const COMMENT_VERBS: Readonly<Record<string, string>> = {
  ...{ created: "commented", updated: "changed a comment to", deleted: "deleted the comment" },
};

/** The item of an event of the log. */
export function itemOfEvent(event: LoggedEvent, nameOf: NameOf): StreamItem {
  const [resource = ""] = event.event.split(".");
  const userId = ("userId" in event.data && event.data.userId) || null;
  const text = sentenceOf(event, userId === null ? BACK_END : nameOf(userId));
  return { id: event.id, at: event.timestamp, kind: KIND_OF[resource] ?? "room", text, userId, value: event };
}

function sentenceOf(event: LoggedEvent, who: string): string {
  const [resource, verb = ""] = event.event.split(".");
  if ("comment" in event) return `${who} ${COMMENT_VERBS[verb] ?? verb} ${quote(event.comment.text)}`;
  if ("file" in event) return `${who} ${verb} ${event.file.filename}`;
  if ("user" in event) return `${event.user.name} ${resource === "participant" ? verb : `was ${verb}`}`;
  if ("users" in event) return `The session of ${joinNames(event.users.map(({ name }) => name))} ended`;
  if (event.event === "access.changed") return "The access to the room was changed";
  if (event.event === "session.started") return "A session started with the first user";
  if (event.event === "version.created")
    return `${event.data.name === null ? "A version" : quote(event.data.name)} was kept of ${event.data.document}`;
  if ("suggestion" in event)
    return `${quote(event.suggestion.title ?? "A suggestion")} was ${verb === "created" ? "suggested" : verb} for ${event.data.document}`;
  if ("document" in event.data) return documentText(event.event, event.data.document);
  if ("store" in event.data) return `The store ${event.data.store} was changed`;
  return `The ${resource} was ${verb}`;
}

const documentText = (event: string, name: string): string =>
  `The document ${name} was ${event.slice("document.".length)}`;

const itemOfDocument = (id: string, at: string, event: string, document: string): StreamItem => ({
  ...{ id, at, kind: "documents", userId: null },
  text: documentText(event, document),
  value: { event, document },
});

type ListedDocument = Pick<DocumentSummary, "name" | "seq" | "created_at" | "updated_at">;

/** The documents that were created, changed or deleted between two lists of them. */
export function changedDocuments(
  before: readonly ListedDocument[],
  after: readonly ListedDocument[],
  now: Date,
): StreamItem[] {
  const known = new Map(before.map((document) => [document.name, document]));
  const left = new Set(after.map(({ name }) => name));
  const written = after.flatMap(({ name, seq, created_at, updated_at }): StreamItem[] => {
    const earlier = known.get(name);
    const isNew = earlier === undefined || earlier.created_at !== created_at;
    if (!isNew && earlier.seq === seq) return [];
    const id = `document ${name} ${created_at} ${seq}`;
    return [itemOfDocument(id, updated_at, isNew ? "document.created" : "document.updated", name)];
  });
  const deleted = before
    .filter(({ name }) => !left.has(name))
    .map(({ name, created_at }) =>
      itemOfDocument(`no document ${name} ${created_at}`, now.toISOString(), "document.deleted", name),
    );
  return [...written, ...deleted];
}

/** Newest first, each once. */
export function mergeItems(...sources: readonly (readonly StreamItem[])[]): StreamItem[] {
  const all = new Map(sources.flat().map((item) => [item.id, item]));
  return [...all.values()].sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, MAX_ITEMS);
}
