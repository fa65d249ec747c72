/** The methods of `atrium/server` that are more than one request of one operation; the generated classes extend these. */
import type { Fault } from "../core/error.ts";
import { type FileUpload, type Rest, uploadFile } from "../core/rest.ts";
import type * as input from "../wire/requests.ts";
import type * as wire from "../wire/resources.ts";
import { continued, writeGrowing } from "./growing-text.ts";
import { Resource } from "./pages.ts";

export interface WriteOptions {
  /** Writes only if the entry has this version, 0 for no entry; otherwise `CONFLICT`. */
  readonly ifVersion?: number | undefined;
}

/** One operation of a batch. */
export type StoreOperation = { readonly store: string; readonly key: string } & WriteOptions &
  (
    | { readonly type: "STORE_SET"; readonly value: unknown }
    | { readonly type: "STORE_UPDATE"; readonly value: object }
    | { readonly type: "STORE_DELETE" }
  );

/** 1 to 500 operations: all or none, unless `atomic` is false. Sent again under its id, a batch is carried out once. */
export interface StoreBatch {
  readonly requestId: string;
  readonly operations: readonly StoreOperation[];
  readonly atomic?: boolean | undefined;
}

/** The response to one batch. In a batch that is not atomic, an operation can be refused by itself. */
export interface BatchResponse {
  readonly requestId: string;
  readonly success: boolean;
  readonly data: {
    readonly results?: readonly (
      | { readonly version?: number; readonly seq: number }
      | { readonly error: Fault }
    )[];
    readonly seq?: number;
  };
  readonly error: Fault | null;
}

/** Reading a whole store takes a request for each page. */
export class StoresBase extends Resource {
  /** All entries by key, read page by page, and the room's latest change at the last page. Empty without such a store. */
  async getAll(roomId: string, store: string): Promise<Omit<wire.Entries, "next">> {
    const all = new Map<string, wire.Entry>();
    const path = ["rooms", roomId, "stores", store];
    for (let after: string | undefined; ; ) {
      const { entries, seq, next } = await this.rest.get<wire.Entries>(path, { after });
      for (const [key, entry] of Object.entries(entries)) all.set(key, entry);
      if (next === undefined) return { entries: Object.fromEntries(all), seq };
      after = next;
    }
  }
}

/** A version of a document. */
export interface ReadOptions {
  /** The number of a version; the document as it is if it is left out. */
  readonly version?: number | undefined;
}

/** The kind of a shared type: the document itself does not say it. */
export interface ContentOptions extends ReadOptions {
  /** `text` by default. Text and XML are returned as a string. */
  readonly type?: "text" | "map" | "array" | "xml" | undefined;
  /** The name of the shared type; `default` if it is left out, which is that of Tiptap. */
  readonly root?: string | undefined;
}

/** A shared type, and the length of its preview. */
export interface PreviewOptions extends ContentOptions {
  /** The content's length limit in characters: up to 4,194,304. */
  readonly maxLength: number;
}

/** A mention in a text. */
interface TextMention {
  /** Your editor's own ID of it, up to 255 characters. */
  readonly mentionId: string;
  /** A user of the room, or an identity. */
  readonly userId: string;
}

const mentionPath = (roomId: string, { mentionId, userId }: TextMention) => [
  ...["rooms", roomId, "users", userId, "text-mentions", mentionId],
];

/** The place of a text, its shared type, and how it is written. */
export interface TextOptions {
  /** `text` by default; `xml` for the documents of editors. */
  readonly type?: "text" | "xml" | undefined;
  /** The name of the shared type; `default` if it is left out. */
  readonly root?: string | undefined;
  /** A quotation, an anchor, `start` or `end`, which is the default. */
  readonly at?: input.EditPlace | undefined;
  /** Writes into new blocks of XML, such as `{ name: "paragraph" }`: one for each paragraph. */
  readonly block?: { readonly name: string; readonly attributes?: Record<string, unknown> } | undefined;
  readonly format?: Record<string, unknown> | undefined;
}

/** Updates are bytes here and Base64 on the wire, and a mention is one object here and a path there. */
export class DocumentsBase extends Resource {
  /** Notifies the inbox of a mentioned person, once per mention. False if it does not exist or may not read the room. */
  async mention(
    roomId: string,
    { document, ...mention }: TextMention & { readonly document?: string | undefined },
  ): Promise<boolean> {
    const path = mentionPath(roomId, mention);
    return (await this.rest.put<{ unnotified?: unknown }>(path, { document })).unnotified === undefined;
  }

  /** Takes a mention that is not in the text any more out of the inbox. */
  unmention(roomId: string, mention: TextMention): Promise<void> {
    return this.rest.delete(mentionPath(roomId, mention));
  }

  /** The whole document, or a version of it, as one update, for `Y.applyUpdate`. */
  async get(roomId: string, name: string, options: ReadOptions = {}): Promise<Uint8Array> {
    const { update } = await this.rest.get<{ update: string }>(documentPath(roomId, name), options);
    return Uint8Array.from(atob(update), (char) => char.charCodeAt(0));
  }

  /** Applies an update of up to 750 kB. False if the document had all of it. */
  apply(roomId: string, name: string, update: Uint8Array): Promise<boolean> {
    return this.#write(roomId, name, update);
  }

  /**
   * Gives a document its first content. One of any number of concurrent seeds is applied; the others return
   * false.
   */
  seed(roomId: string, name: string, update: Uint8Array): Promise<boolean> {
    return this.#write(roomId, name, update, { ifEmpty: "true" });
  }

  /**
   * Writes a text while it is generated, piece by piece, at most five times a second: others see it grow, and write
   * beside it. Rejects with CONFLICT when its block is deleted meanwhile; what was written stays.
   */
  async write(
    roomId: string,
    name: string,
    pieces: AsyncIterable<string> | Iterable<string>,
    { at = "end", block, format, ...root }: TextOptions = {},
  ): Promise<void> {
    const path = [...documentPath(roomId, name), "edits"];
    let place = at;
    let hasBegun = false;
    await writeGrowing(pieces, block !== undefined, async (text) => {
      const edits = hasBegun
        ? continued(text, place, block, format)
        : [{ at: place, insert: text, block, format }];
      const answer = await this.rest.post<wire.EditedDocument>(path, { ...root, edits });
      hasBegun = true;
      place = { anchor: answer.edits.at(-1)?.end ?? "" };
    });
  }

  async #write(roomId: string, name: string, update: Uint8Array, query?: object): Promise<boolean> {
    let binary = "";
    for (const byte of update) binary += String.fromCharCode(byte);
    const body = { update: btoa(binary) };
    return this.only("applied", this.rest.put(documentPath(roomId, name), body, query));
  }
}

const documentPath = (roomId: string, name: string): string[] => ["rooms", roomId, "documents", name];

/** A file to upload on behalf of a user of the room. */
export type ServerUpload = Omit<FileUpload, "roomId">;

/** An upload is a form, with progress. */
export class FilesBase extends Resource {
  upload(roomId: string, upload: ServerUpload): Promise<wire.UploadResult> {
    return uploadFile(this.rest, { roomId, ...upload });
  }
}

/** Filters the event log; without a filter, all kept events. */
export interface EventFilter {
  /** Only events of this room, which must exist; otherwise the events of all rooms, deleted ones included. */
  readonly roomId?: string | undefined;
  /** The `cursor` of an earlier page: only later events. */
  readonly after?: string | undefined;
  /** Earliest time of events, if there is no `after` (RFC 3339, or a date for the start of that UTC day). */
  readonly from?: string | undefined;
  /** Only these events. */
  readonly events?: readonly wire.WebhookEventName[] | undefined;
  /** Page size, up to 100; 50 by default. */
  readonly limit?: number | undefined;
}

/** The log of a room has an address of its own, and a page does not end where the log ends. */
export class EventsBase extends Resource {
  /** One page, oldest first. Its `cursor` continues behind it. `GONE` when events after `after` are no longer kept. */
  list({ roomId, ...query }: EventFilter = {}): Promise<wire.EventPage> {
    return this.rest.get(roomId === undefined ? ["events"] : ["rooms", roomId, "events"], query);
  }

  /** The pages up to the newest event. Store a page's `cursor` once its events are handled, to continue from there. */
  async *pages(filter: EventFilter = {}): AsyncGenerator<wire.EventPage, void, undefined> {
    const { from, ...rest } = filter;
    let page = await this.list(filter);
    yield page;
    while (page.has_more) {
      page = await this.list({ ...rest, after: page.cursor });
      yield page;
    }
  }
}

/** The notifications of one identity: each method has its ID, and without a notification's ID concerns all of them. */
export class InboxBase extends Resource {
  protected readonly identityId: string;

  constructor(rest: Rest, identityId: string) {
    super(rest);
    this.identityId = identityId;
  }

  /**
   * Marks a notification as read, up to its latest activity or to the `seq` `upTo`; without an ID, all of them.
   * Later activities stay unread. Returns the unread count.
   */
  markRead(notificationId?: string, upTo?: number): Promise<number> {
    const read = notificationId === undefined ? { all: true } : { notificationId, upTo };
    return this.only("unread", this.rest.post<{ unread: number }>(this.#path("read"), read));
  }

  /** Deletes a notification, which a later activity shows again; without an ID, all of them. */
  delete(notificationId?: string): Promise<void> {
    return this.rest.delete(this.#path(...(notificationId === undefined ? [] : [notificationId])));
  }

  #path(...rest: readonly string[]): string[] {
    return ["identities", this.identityId, "inbox-notifications", ...rest];
  }
}

/** Longer than a run can take, including the run that it may have to wait for. */
const RUN_TIMEOUT_MS = 75_000;

/** A run takes longer than the time that other requests have. */
export class WorkflowsBase extends Resource {
  /**
   * Runs the workflow now, for the current room and user, and waits. Its changes stay. Most events need a
   * `userId`.
   */
  run(
    workflowId: string,
    event: wire.EventName,
    data: input.WorkflowRunInput["data"],
  ): Promise<wire.WorkflowExecution> {
    const path = ["workflows", workflowId, "run"];
    const request = { method: "POST", path, body: { event, data }, minTimeoutMs: RUN_TIMEOUT_MS } as const;
    return this.only("execution", this.rest.request(request));
  }
}
