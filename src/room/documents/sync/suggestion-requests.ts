/** REST requests to suggestions: forks of documents that their authors write into, and that others review. */
import { AppError, notFound } from "@atrium/contract/errors.ts";
import { missing, refusalOf, type Subject } from "@atrium/contract/resources/permissions.ts";
import type { Suggestion } from "@atrium/contract/resources/suggestion.ts";
import { forkNameOf, SUGGESTION_LIMITS, suggestionIn } from "@atrium/contract/suggestion-limits.ts";
import { presentTime } from "@atrium/contract/time.ts";
import type { Changes } from "../../engine/content/changes.ts";
import { type EventPorts, recordSuggestion } from "../../engine/outbox/room-events.ts";
import type { ServerEvent } from "../../protocol/protocol.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { Effect } from "../../transport/connection.ts";
import { type Author, isSameAuthor, presentAuthor } from "../../types/documents.ts";
import type { RecordsOfUser } from "../../types/room-object.ts";
import type {
  ListedSuggestions,
  ReviewedSuggestion,
  ReviewedUpdate,
  StoredSuggestion,
  SuggestionDetails,
  SuggestionPage,
  SuggestionStart,
  WithdrawnSuggestion,
} from "../../types/suggestions.ts";
import type { DocumentHistory } from "../document-history.ts";
import type { RoomDocuments } from "../documents.ts";
import { isOvertaken } from "../edits/guard.ts";
import type { Channels } from "./channels.ts";
import { type DocumentRequests, editOf } from "./document-requests.ts";

/** Above the suggestions that a document keeps. */
const ALL: ListedSuggestions = { status: null, before: Number.MAX_SAFE_INTEGER, limit: 1_000 };
/** A comment of a review can have some 40 KB. */
const OF_USER_AT_ONCE = 200;

/** The author of a fork's first update, which is the document as it was. */
const BASE_AUTHOR: Author = { type: "organization" };
const BASE_VERSION = { type: "create", name: "Base", by: BASE_AUTHOR } as const;

const conflict = (why: string) => new AppError("Rooms", "CONFLICT", why);

interface SuggestionParts {
  readonly events: EventPorts;
  readonly changes: Changes;
  readonly documents: RoomDocuments;
  readonly history: DocumentHistory;
  readonly channels: Channels;
  readonly requests: DocumentRequests;
  sendToAll(events: readonly ServerEvent[]): Effect[];
}

export class SuggestionRequests {
  readonly #room: SuggestionParts;

  constructor(room: SuggestionParts) {
    this.#room = room;
  }

  get #storage(): RoomStorage {
    return this.#room.events.storage;
  }

  get #table(): RoomStorage["suggestions"] {
    return this.#storage.suggestions;
  }

  /** Null when there is no such document. */
  list(name: string, listed: ListedSuggestions): SuggestionPage | null {
    const document = this.#storage.documents.find(name);
    if (document === null) return null;
    const rows = this.#table.list(document.id, listed);
    return {
      suggestions: rows.map((row) => this.#present(row, name)),
      next: rows.length < listed.limit ? null : (rows.at(-1)?.number ?? null),
    };
  }

  /** Null when the document has no such suggestion. */
  describe(name: string, id: string): SuggestionDetails | null {
    const row = this.#find(name, id);
    if (row === null) return null;
    const fork = this.#room.documents.describe(forkNameOf(id));
    return {
      suggestion: this.#present(row, name),
      seq: fork?.seq ?? 0,
      baseSeq: row.baseSeq,
      secret: row.secret,
      forkId: fork?.id ?? null,
      documentId: row.document,
      documentSeq: this.#room.documents.describe(name)?.seq ?? 0,
      parts: this.#table.findParts(id),
    };
  }

  #find(name: string, id: string): StoredSuggestion | null {
    const row = this.#table.find(id);
    return row !== null && row.document === this.#storage.documents.find(name)?.id ? row : null;
  }

  #pending(name: string, id: string): StoredSuggestion {
    const row = this.#find(name, id);
    if (row === null) throw notFound("Rooms", "Suggestion");
    if (row.status !== "pending") throw conflict("The suggestion was reviewed already");
    return row;
  }

  #present(row: StoredSuggestion, document: string): Suggestion {
    const { id, title, status, author, createdAt, reviewedBy, reviewedAt, comment } = row;
    return {
      id,
      document,
      fork: forkNameOf(id),
      title,
      status,
      author: presentAuthor(author),
      created_at: presentTime(createdAt),
      updated_at: presentTime(reviewedAt ?? this.#table.writtenAt(id) ?? createdAt),
      reviewed_by: reviewedBy && presentAuthor(reviewedBy),
      reviewed_at: reviewedAt === null ? null : presentTime(reviewedAt),
      comment,
    };
  }

  #attempt<Result>(change: () => Result): Result {
    return this.#room.documents.undoable(() => this.#room.changes.transaction(change));
  }

  /** Sends the changes that were made. */
  #sent(): Effect[] {
    return this.#room.sendToAll(this.#room.changes.takeEvents());
  }

  /** Makes a suggestion with its fork, and returns the answer as JSON: of the same request, if it was carried out before. */
  create(name: string, start: SuggestionStart): { readonly answer: string; readonly effects: Effect[] } {
    const { channels, changes, events } = this.#room;
    const fork = forkNameOf(events.newId());
    const { request } = start;
    try {
      const answer = this.#attempt(() =>
        changes.once(request.sender, editOf(name, request), () => this.#create(name, fork, start), "always"),
      );
      return { answer: JSON.stringify(answer), effects: [...this.#sent(), ...channels.foldIfDue(fork)] };
    } finally {
      channels.release(fork);
    }
  }

  #create(name: string, fork: string, start: SuggestionStart): object {
    const { documents, history, events } = this.#room;
    const { documentId: document, title, author, base, update, edits } = start;
    if (this.#storage.documents.find(name)?.id !== document) throw notFound("Rooms", "Document");
    this.#requirePlace(document, author);
    documents.append(fork, base, BASE_AUTHOR);
    const { seq: baseSeq } = history.change(fork, BASE_VERSION);
    const id = fork.slice(forkNameOf("").length);
    this.#table.insert({
      id,
      document,
      title,
      author,
      baseSeq,
      secret: events.newId(),
      createdAt: events.now(),
    });
    if (update !== null) documents.append(fork, update, author);
    const suggestion = this.#changed(name, id);
    recordSuggestion(events, { event: "suggestion.created", suggestion });
    return { suggestion, edits: JSON.parse(edits) as object };
  }

  #requirePlace(document: number, author: Author): void {
    const { pending, pendingOfAuthor, pendingInRoom } = SUGGESTION_LIMITS;
    const counts = this.#table.countPending(document, author);
    const full = (whose: string) => conflict(`${whose} pending suggestions: have some reviewed first`);
    if (counts.ofAuthor >= pendingOfAuthor) throw full(`You have ${pendingOfAuthor} of the document's`);
    if (counts.ofDocument >= pending) throw full(`The document has ${pending}`);
    if (counts.inRoom >= pendingInRoom) throw full(`The room has ${pendingInRoom}`);
  }

  /** Logs a suggestion as it is now. */
  #changed(name: string, id: string): Suggestion {
    const row = this.#table.find(id);
    if (row === null) throw new Error(`The room has no suggestion ${id}`);
    const suggestion = this.#present(row, name);
    this.#room.changes.append("suggestionChanged", () => ({ suggestion }));
    return suggestion;
  }

  #isOvertaken(name: string, { basedOn, guard }: ReviewedUpdate): boolean {
    const { documents } = this.#room;
    if (documents.seqOf(name) === basedOn) return false;
    return guard === null || isOvertaken(guard, documents.updatesAfter(name, basedOn));
  }

  /** Null if the document has changed at the accepted parts since it was read for them. Throws as {@link RoomDocuments.append}. */
  review(
    name: string,
    id: string,
    { seq, documentId, accepted: accepting, parts, counts, comment, author: reviewer }: ReviewedSuggestion,
  ): { readonly suggestion: Suggestion | null; readonly effects: Effect[] } {
    const { documents, channels, requests, events } = this.#room;
    const fork = forkNameOf(id);
    let news: Uint8Array | null = null;
    try {
      const suggestion = this.#attempt(() => {
        const { author, document } = this.#pending(name, id);
        if (document !== documentId) throw notFound("Rooms", "Suggestion");
        if (documents.seqOf(fork) !== seq)
          throw conflict("The suggestion has changed since you read it; read it again");
        if (accepting !== null && this.#isOvertaken(name, accepting)) return null;
        documents.delete(fork); // its bytes may be those that the update needs
        if (accepting !== null)
          news = documents.append(name, accepting.update, author, { keepsVersion: true, reviewer });
        const { accepted } = counts;
        const status = accepted > 0 ? "approved" : "rejected";
        const review = { reviewedBy: reviewer, reviewedAt: events.now(), parts: JSON.stringify(parts) };
        this.#table.review({ id, status, comment, ...review });
        this.#table.prune(document, SUGGESTION_LIMITS.reviewed);
        const reviewed = this.#changed(name, id);
        const rejected = counts.parts - accepted;
        recordSuggestion(events, { event: "suggestion.reviewed", suggestion: reviewed, accepted, rejected });
        return reviewed;
      });
      if (suggestion === null) return { suggestion, effects: [] };
      const written = news === null ? [] : channels.broadcast(name, news);
      return { suggestion, effects: [...written, ...requests.close(fork), ...this.#sent()] };
    } finally {
      for (const each of [name, fork]) channels.release(each);
    }
  }

  /** The refusal to delete a document of this name. Before the names of forks were reserved, others could have them. */
  deletionRefusal(name: string, subject: Subject): AppError | null {
    const id = suggestionIn(name);
    if (id !== null && this.#table.find(id) !== null)
      return conflict("The document is that of a suggestion: withdraw the suggestion");
    return refusalOf("documents:write", subject, "Rooms");
  }

  /** The refusal to withdraw a suggestion: its author may, and a user who may write documents. */
  withdrawalRefusal(id: string, { author, mayWrite }: WithdrawnSuggestion, subject: Subject) {
    const row = this.#table.find(id);
    if (row !== null && isSameAuthor(row.author, author))
      return refusalOf("documents:suggest", subject, "Rooms");
    return mayWrite ? refusalOf("documents:write", subject, "Rooms") : missing("Rooms", "documents:write");
  }

  /** Deletes a pending suggestion with its fork. */
  withdraw(name: string, id: string): Effect[] {
    const fork = forkNameOf(id);
    this.#attempt(() => {
      this.#pending(name, id);
      this.#room.documents.delete(fork);
      this.#delete(name, id);
    });
    this.#room.channels.release(name);
    return [...this.#room.requests.close(fork), ...this.#sent()];
  }

  #delete(document: string, suggestionId: string): void {
    this.#table.delete(suggestionId);
    this.#room.changes.append("suggestionDeleted", () => ({ suggestionId, document }));
  }

  /** Deletes a document with its history and its suggestions, and closes them for everyone. Null if there is none. */
  deleteDocument(name: string): Effect[] | null {
    const { documents, requests } = this.#room;
    const document = this.#storage.documents.find(name);
    if (document === null) return null;
    const ids = this.#table.list(document.id, ALL).map(({ id }) => id);
    const forks = ids.map(forkNameOf);
    this.#attempt(() => {
      documents.delete(name, ...forks);
      for (const id of ids) this.#delete(name, id);
    });
    return [...[name, ...forks].flatMap((each) => requests.close(each)), ...this.#sent()];
  }

  /** Some suggestions that a user has made or reviewed; `after` is the number of the last one, null for the start. */
  ofUser(userId: string, after: string | null): RecordsOfUser {
    const rows = this.#table.listOf({ type: "user", id: userId }, Number(after ?? 0), OF_USER_AT_ONCE);
    const records = rows.map((row) => {
      const suggestion = this.#present(row, this.#table.documentName(row.document) ?? "");
      return { type: "suggestion", suggestion } as const;
    });
    return { records, next: rows.length < OF_USER_AT_ONCE ? null : String(rows.at(-1)?.number) };
  }

  /** Deletes some suggestions of an erased user, and the user from those of others; null when none is left. */
  eraseSome(userId: string): Effect[] | null {
    const user: Author = { type: "user", id: userId };
    const rows = this.#table.listOf(user, 0, OF_USER_AT_ONCE);
    if (rows.length === 0) return null;
    this.#attempt(() => {
      for (const row of rows) this.#erase(row, user);
    });
    const closed = rows.flatMap(({ id }) => {
      const isGone = this.#table.find(id) === null;
      return isGone ? this.#room.requests.close(forkNameOf(id)) : [];
    });
    return [...closed, ...this.#sent()];
  }

  #erase({ id, author, document }: StoredSuggestion, user: Author): void {
    const name = this.#table.documentName(document) ?? "";
    if (isSameAuthor(author, user)) {
      this.#room.documents.delete(forkNameOf(id));
      this.#delete(name, id);
    } else {
      this.#table.forgetReviewer(id);
      this.#changed(name, id);
    }
  }
}
