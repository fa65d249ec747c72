/** The suggestions of a document: its list, kept current by the room's changes, and requests about each. */
import type { Data } from "../client/connection/frames.ts";
import { inspectionOf } from "../client/inspected.ts";
import { Emitter, getOrAdd } from "../core/emitter.ts";
import { assumeType, isRecord } from "../core/json.ts";
import type { DocumentEdit } from "../wire/requests.ts";
import type { SuggestedPart, Suggestion } from "../wire/resources.ts";
import { type Ask, askOf, type DocumentClient, unlessMissing } from "./document-requests.ts";
import { watchDocument } from "./document-watch.ts";

export interface NewSuggestion {
  /** A few words for the reviewer. */
  readonly title?: string | undefined;
  /** The first edits: all are made, or the suggestion is not. */
  readonly edits?: readonly DocumentEdit[] | undefined;
  /** The name of the shared type of the edits; `default` by default. */
  readonly root?: string | undefined;
  /** `text` by default; `xml` for the documents of editors. */
  readonly type?: "text" | "xml" | undefined;
}

/** A suggestion as it was read. */
export interface ReadSuggestion {
  readonly suggestion: Suggestion;
  /** Goes into the review. */
  readonly seq: number;
  /** In the order of the document. */
  readonly parts: readonly SuggestedPart[];
}

export interface Review {
  /** That of the suggestion as it was read: no one accepts changes that they have not seen. */
  readonly seq: number;
  /** The IDs of parts, or `all`. The others are rejected; an empty list rejects all. */
  readonly accept: "all" | readonly string[];
  /** A comment for the author. */
  readonly comment?: string | undefined;
}

export interface SuggestionEvents {
  /** The list is another one. */
  changed: readonly Suggestion[];
}

interface SuggestionPage {
  readonly suggestions: readonly Suggestion[];
  readonly next: number | null;
}

type Change = (list: readonly Suggestion[]) => readonly Suggestion[];

const NONE_YET: SuggestionPage = { suggestions: [], next: null };
const READ_AT_ONCE = 100;

const put =
  (suggestion: Suggestion): Change =>
  (list) =>
    list.some(({ id }) => id === suggestion.id)
      ? list.map((each) => (each.id === suggestion.id ? suggestion : each))
      : [suggestion, ...list];

const without =
  (suggestionId: unknown): Change =>
  (list) =>
    list.filter(({ id }) => id !== suggestionId);

const isSuggestion = (value: unknown): value is Suggestion =>
  isRecord(value) && [value.id, value.document, value.fork].every((field) => typeof field === "string");

export class DocumentSuggestions extends Emitter<SuggestionEvents> {
  readonly document: string;
  readonly #client: DocumentClient;
  readonly #ask: Ask;
  #list: readonly Suggestion[] = [];
  #isLoaded = false;
  #loading: Promise<void> | null = null;
  /** Whether changes were missed since the loading began. */
  #isOutdated = false;
  /** Changes that arrived during the loading, which its answers may lack. */
  #meanwhile: Change[] = [];

  /** Use `openSuggestions`. */
  constructor(client: DocumentClient, document: string) {
    super();
    this.document = document;
    this.#client = client;
    this.#ask = askOf(client, document);
    inspectionOf(client).connection.changeStream.onJoined(({ changes }) => {
      if (changes === null) this.#reset();
    });
  }

  /** Newest first: those that are pending, and the latest that were reviewed. Empty until they are loaded. */
  get list(): readonly Suggestion[] {
    return this.#list;
  }

  /** Whether the list is that of the room. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Loads the list once. From then on it follows the room, while the client is in it. */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    await this.#loading;
  }

  async #load(): Promise<void> {
    this.#isOutdated = false;
    this.#meanwhile = [];
    const read: Suggestion[] = [];
    for (let before: number | null | undefined; before !== null; ) {
      const query = { limit: READ_AT_ONCE, before };
      const page = await this.#ask<SuggestionPage>("GET", ["suggestions"], { query }).catch(
        unlessMissing(NONE_YET),
      );
      read.push(...page.suggestions);
      before = page.next;
    }
    if (this.#isOutdated) return this.#load();
    this.#isLoaded = true;
    this.#show(this.#meanwhile.reduce<readonly Suggestion[]>((list, change) => change(list), read));
  }

  /** Changes were missed. */
  #reset(): void {
    this.#isOutdated = true;
    if (!this.#isLoaded) return;
    this.#isLoaded = false;
    this.load().catch((error) => this.#client.report(error));
  }

  /** The suggestion compared with the document as it is; once it is reviewed, what became of each part. */
  read(suggestionId: string): Promise<ReadSuggestion> {
    return this.#ask("GET", ["suggestions", suggestionId]);
  }

  /**
   * Makes a suggestion, whose author writes into it by `openDocument(client, suggestion.fork)`: with a Y.Doc that no other
   * document has before or after. Throws CONFLICT if an edit does not fit the document, or 100 suggestions are pending.
   */
  async create(creation: NewSuggestion = {}): Promise<Suggestion> {
    const body = { ...creation };
    const { suggestion } = await this.#ask<Pick<ReadSuggestion, "suggestion">>("POST", ["suggestions"], {
      body,
    });
    this.apply(put(suggestion));
    return suggestion;
  }

  /**
   * Accepts parts, and rejects all others. Throws CONFLICT if the suggestion has changed since it was read, was reviewed
   * already, or an accepted part is stale.
   */
  async review(suggestionId: string, { seq, accept, comment }: Review): Promise<Omit<ReadSuggestion, "seq">> {
    const path = ["suggestions", suggestionId, "review"];
    const reviewed = await this.#ask<Omit<ReadSuggestion, "seq">>("POST", path, {
      body: { seq, accept, comment },
    });
    this.apply(put(reviewed.suggestion));
    return reviewed;
  }

  /** Takes an own suggestion back. Throws CONFLICT if it was reviewed. */
  async withdraw(suggestionId: string): Promise<void> {
    await this.#ask("DELETE", ["suggestions", suggestionId]);
    this.apply(without(suggestionId));
  }

  /** Calls back when the author has written into a pending suggestion, and after a reconnection. The result ends that. */
  watch({ fork }: Pick<Suggestion, "fork">, changed: () => void): () => void {
    return watchDocument(this.#client, fork, changed);
  }

  /** A change of the room. Not for applications. */
  apply(change: Change): void {
    if (this.#loading !== null) this.#meanwhile.push(change);
    if (this.#isLoaded) this.#show(change(this.#list));
  }

  #show(list: readonly Suggestion[]): void {
    this.#list = list;
    this.emit("changed", list);
  }
}

type Opened = Map<string, DocumentSuggestions>;

const opened = new WeakMap<object, Opened>();

/** Hands the changes of a client's room to its lists. */
function follow(client: DocumentClient): Opened {
  const lists: Opened = new Map();
  const { changeStream } = inspectionOf(client).connection;
  const dispatch = (document: unknown, change: Change) => lists.get(assumeType(document))?.apply(change);
  changeStream.handle("suggestionChanged", ({ suggestion }: Data) => {
    if (isSuggestion(suggestion)) dispatch(suggestion.document, put(suggestion));
  });
  changeStream.handle("suggestionDeleted", ({ document, suggestionId }: Data) =>
    dispatch(document, without(suggestionId)),
  );
  return lists;
}

/** The suggestions of a document: the same object each time. `load()` reads them. */
export function openSuggestions(client: DocumentClient, document: string): DocumentSuggestions {
  return getOrAdd(
    getOrAdd(opened, client, () => follow(client)),
    document,
    () => new DocumentSuggestions(client, document),
  );
}
