/** Written by `npm run dev -- sdk` from the endpoints: the methods of `AtriumServer` that make one request. */

import type { FileFilter } from "../core/rest.ts";
import type * as input from "../wire/requests.ts";
import type * as wire from "../wire/resources.ts";
import type { Filter, Listed, Page, PageShown, Scroll, ScrollShown } from "./pages.ts";
import { eachOf, Resource } from "./pages.ts";
import type { BatchResponse, ContentOptions, PreviewOptions, StoreBatch, WriteOptions } from "./written.ts";
import * as written from "./written.ts";

/** The arguments of `listAuditEntries`. */
export interface AuditFilter {
  /** The most items to return. Values above 100 count as 100. */
  readonly limit?: number | undefined;
  /** The `cursor` of an earlier page: the entries that follow it, with the same filters. */
  readonly after?: string | undefined;
  /** Only items created at or after this time. A date without a time is the start of that UTC day. */
  readonly from?: string | undefined;
  /** Only items created at or before this time. A date without a time is the end of that UTC day. */
  readonly to?: string | undefined;
  /** Only entries with this person's or API key's ID. */
  readonly actorId?: string | undefined;
  /** Only entries with this operation. */
  readonly operation?: string | undefined;
  /** Only changes of this type of resource. */
  readonly resource?:
    | "organization"
    | "member"
    | "invitation"
    | "api_key"
    | "tokens"
    | "quotas"
    | "webhook"
    | "workflow"
    | "room"
    | "user"
    | "identity"
    | "group"
    | "access"
    | "link"
    | "file"
    | undefined;
  /** Only entries with this resource's ID. */
  readonly resourceId?: string | undefined;
}

/** The arguments of `getDocumentBlocks`. */
export interface BlocksOptions {
  /** The name of the shared type. */
  readonly root?: string | undefined;
  /** `text`: a `Y.Text`. `xml`: the XML of an editor such as Tiptap or BlockNote. */
  readonly type?: "text" | "xml" | undefined;
  /** The `next` of an earlier page. */
  readonly after?: string | undefined;
  /** Of blocks. */
  readonly limit?: number | undefined;
}

/** The arguments of `listComments`. */
export interface CommentFilter extends Scroll {
  /**
   * Only items with this text in the comment's text. Matched literally, ignoring case, and whether letters
   * are composed or have marks of their own. Empty: no filter.
   */
  readonly search?: string | undefined;
  /** Only the comments of one thread. */
  readonly threadId?: string | undefined;
  /** Only comments that are resolved, or only those that are not. */
  readonly resolved?: boolean | undefined;
}

/** The arguments of `compareDocumentVersions`. */
export interface CompareOptions {
  /** The number of the earlier version; 0 for the document before anything was written. */
  readonly from?: number | undefined;
  /** The number of the later version; the document as it is if it is left out. */
  readonly to?: number | undefined;
  /** The name of the shared type. */
  readonly root?: string | undefined;
  /** The kind of the shared type. */
  readonly type?: "text" | "map" | "array" | "xml" | undefined;
}

/** The arguments of `listWebhookDeliveries`. */
export interface DeliverySearch extends Scroll {
  /** Only deliveries with this status. */
  readonly status?: "pending" | "success" | "failed" | undefined;
  /**
   * Only deliveries of this event, among the latest 10,000 with the status, or the 10,000 that follow
   * `after`.
   */
  readonly event?:
    | "participant.joined"
    | "participant.left"
    | "session.started"
    | "session.closed"
    | "user.created"
    | "user.updated"
    | "user.deleted"
    | "comment.created"
    | "comment.updated"
    | "comment.resolved"
    | "comment.deleted"
    | "thread.created"
    | "thread.resolved"
    | "thread.deleted"
    | "agent.mentioned"
    | "store.changed"
    | "document.created"
    | "document.updated"
    | "document.deleted"
    | "version.created"
    | "suggestion.created"
    | "suggestion.reviewed"
    | "file.uploaded"
    | "file.deleted"
    | "room.created"
    | "room.updated"
    | "room.closed"
    | "room.deleted"
    | "access.changed"
    | "identity.created"
    | "identity.updated"
    | "identity.deleted"
    | "group.created"
    | "group.updated"
    | "group.deleted"
    | "notification"
    | "webhook.backlogged"
    | "workflow.disabled"
    | undefined;
  /**
   * Only deliveries of events of this room, among the latest 10,000 with the status, or the 10,000 that
   * follow `after`.
   */
  readonly roomId?: string | undefined;
}

/** The arguments of `editDocument`, `editSuggestion`. */
export interface EditOptions {
  /** The name of the shared type. */
  readonly root?: string | undefined;
  /** `text`: a `Y.Text`. `xml`: the XML of an editor such as Tiptap or BlockNote. */
  readonly type?: "text" | "xml" | undefined;
  readonly base?: number | string | undefined;
}

/** The arguments of `getStore`. */
export interface EntryPage {
  /** Only the entries after this key. */
  readonly after?: string | undefined;
  /** The most entries to return. Values above 10000 count as 10000. */
  readonly limit?: number | undefined;
}

/** The arguments of `findFiles`. */
export interface FileSearch {
  /**
   * Only items with this text in the file's name. Matched literally, ignoring case, and whether letters are
   * composed or have marks of their own. Empty: no filter.
   */
  readonly search?: string | undefined;
  /** Only files of this room. */
  readonly roomId?: string | undefined;
  /** Only files that this user uploaded, or `workflow:` and the id of a workflow. */
  readonly userId?: string | undefined;
}

/** The arguments of `listFiles`. */
export interface FileSort {
  /**
   * The order: `uploadedAt` or `filename` or `size`, descending with `-` in front. Items that are equal in it
   * are ordered by ID. A page that follows a `cursor` has the cursor's order.
   */
  readonly sort?: "uploadedAt" | "-uploadedAt" | "filename" | "-filename" | "size" | "-size" | undefined;
}

/** The arguments of `getDocumentTrail`, `listDocumentVersions`. */
export interface HistoryOptions {
  /** The most items to return. Values above 100 count as 100. */
  readonly limit?: number | undefined;
  /** The `next` of an earlier page: only what is older. */
  readonly before?: number | undefined;
}

/** The arguments of `listIdentities`. */
export interface IdentitySearch extends Scroll {
  /**
   * The order: `created_at` or `name`, descending with `-` in front. Items that are equal in it are ordered
   * by ID. A page that follows a `cursor` has the cursor's order.
   */
  readonly sort?: "created_at" | "-created_at" | "name" | "-name" | undefined;
  /**
   * Only items with this text in the identity's name or at the start of its ID. Matched literally, ignoring
   * case, and whether letters are composed or have marks of their own. Empty: no filter.
   */
  readonly search?: string | undefined;
  /** Only items created at or after this time. A date without a time is the start of that UTC day. */
  readonly from?: string | undefined;
  /** Only items created at or before this time. A date without a time is the end of that UTC day. */
  readonly to?: string | undefined;
  /** Only identities of this kind, or of several ones: `person,agent` leaves guests out. */
  readonly kind?: string | undefined;
}

/** The arguments of `listInboxNotifications`. */
export interface InboxSearch {
  /** The most items to return. Values above 100 count as 100. */
  readonly limit?: number | undefined;
  /** The `cursor` of an earlier page: the entries that follow it, with the same filters. */
  readonly after?: string | undefined;
  /** Only notifications that are unread, or with `false` only those that are read. */
  readonly unread?: boolean | undefined;
  /** Only notifications of this room. */
  readonly roomId?: string | undefined;
  /** Only notifications of this kind. */
  readonly kind?: string | undefined;
}

/** The arguments of `listApiKeys`. */
export interface KeySearch extends Scroll {
  /**
   * The order: `created_at` or `name` or `last_used_at`, descending with `-` in front. Items that are equal
   * in it are ordered by ID. A page that follows a `cursor` has the cursor's order.
   */
  readonly sort?:
    | "created_at"
    | "-created_at"
    | "name"
    | "-name"
    | "last_used_at"
    | "-last_used_at"
    | undefined;
}

/** The arguments of `listMembers`. */
export interface MemberSearch extends Scroll {
  /**
   * The order: `joined_at` or `name` or `email` or `role`, descending with `-` in front. Items that are equal
   * in it are ordered by ID. A page that follows a `cursor` has the cursor's order.
   */
  readonly sort?:
    | "joined_at"
    | "-joined_at"
    | "name"
    | "-name"
    | "email"
    | "-email"
    | "role"
    | "-role"
    | undefined;
}

/** The response of `reconcileRoom`. */
export interface Reconciliation {
  readonly room: wire.Room;
  /** The counter before the recount. */
  readonly previous_active_participants: number;
  /** The number of users online. */
  readonly reconciled_active_participants: number;
}

/** The arguments of `listRequests`. */
export interface RequestFilter {
  /** The most items to return. Values above 100 count as 100. */
  readonly limit?: number | undefined;
  /** The `cursor` of an earlier page: the requests before it, with the same filters. */
  readonly after?: string | undefined;
  /** `true`: only requests with a status of 400 or more. */
  readonly failed?: boolean | undefined;
  /** Only requests by members, as the dashboard makes them, or only the others. */
  readonly byMember?: boolean | undefined;
  /** Only requests to this operation. */
  readonly operation?: string | undefined;
  /** Only requests with this API key, or by this member or user. */
  readonly credentialId?: string | undefined;
  /** Only requests about this room. */
  readonly roomId?: string | undefined;
}

/** The arguments of `reviewSuggestion`. */
export interface ReviewOptions {
  /** The `seq` of the suggestion as you have read it: no one accepts what they have not seen. */
  readonly seq: number;
  /**
   * The IDs of parts, or `all`. The others are rejected; an empty list rejects all, also of a suggestion that
   * is too large to be compared: the answer then has no parts.
   */
  readonly accept: "all" | string[];
  /** A comment for the author. */
  readonly comment?: string | undefined;
}

/** The arguments of `rollBackDocument`. */
export interface RollbackOptions {
  readonly userId?: string | undefined;
  /** In place of `userId`: any author of the trail. */
  readonly author?:
    | {
        readonly type: "user" | "key" | "person" | "workflow";
        readonly id: string;
      }
    | undefined;
  /** The number of a version: what was written after it. 0 for all that the user wrote. */
  readonly from?: number | undefined;
  /** The number of a later version, up to which it was written; null for all since `from`. */
  readonly to?: number | null | undefined;
}

/** The arguments of `listRooms`. */
export interface RoomSearch extends Scroll {
  /**
   * The order: `created_at` or `name` or `last_active_at`, descending with `-` in front. Items that are equal
   * in it are ordered by ID. A page that follows a `cursor` has the cursor's order.
   */
  readonly sort?:
    | "created_at"
    | "-created_at"
    | "name"
    | "-name"
    | "last_active_at"
    | "-last_active_at"
    | undefined;
  /**
   * Only items with this text in the room's name. Matched literally, ignoring case, and whether letters are
   * composed or have marks of their own. Empty: no filter.
   */
  readonly search?: string | undefined;
  /** Only items created at or after this time. A date without a time is the start of that UTC day. */
  readonly from?: string | undefined;
  /** Only items created at or before this time. A date without a time is the end of that UTC day. */
  readonly to?: string | undefined;
  /** Only rooms in this state. */
  readonly state?: "active" | "closed" | undefined;
  /** Only rooms with users online, or only those without. */
  readonly online?: boolean | undefined;
}

/** The response of `getRoomByCustomId`, `getRoom`. */
export interface RoomWithUsers {
  /** The room, with its live stats. */
  readonly room: wire.Room;
  readonly users: wire.User[];
  /** Number of matching items on all pages. */
  readonly usersTotal: number;
  /** The limit that was used. */
  readonly limit: number;
  /** The offset that was used. */
  readonly offset: number;
  /** Goes into `after` to read the page that follows; null on the last one. */
  readonly cursor: string | null;
}

/** The arguments of `getRoomByCustomId`, `getRoom`, `listGroups`. */
export interface Search extends Scroll {
  /**
   * The order: `created_at` or `name`, descending with `-` in front. Items that are equal in it are ordered
   * by ID. A page that follows a `cursor` has the cursor's order.
   */
  readonly sort?: "created_at" | "-created_at" | "name" | "-name" | undefined;
  readonly search?: string | undefined;
  /** Only items created at or after this time. A date without a time is the start of that UTC day. */
  readonly from?: string | undefined;
  /** Only items created at or before this time. A date without a time is the end of that UTC day. */
  readonly to?: string | undefined;
}

/** The arguments of `createSuggestion`. */
export interface SuggestionOptions {
  /** The name of the shared type. */
  readonly root?: string | undefined;
  /** `text`: a `Y.Text`. `xml`: the XML of an editor such as Tiptap or BlockNote. */
  readonly type?: "text" | "xml" | undefined;
  /** The first edits: all are made, or the suggestion is not. */
  readonly edits?: readonly input.DocumentEdit[] | undefined;
  readonly base?: number | string | undefined;
  /** A few words for the reviewer. */
  readonly title?: string | undefined;
}

/** The arguments of `listSuggestions`. */
export interface SuggestionsOptions {
  /** Only these. */
  readonly status?: "pending" | "approved" | "rejected" | undefined;
  /** The `next` of an earlier page: only what is older. */
  readonly before?: number | undefined;
  /** The most items to return. Values above 100 count as 100. */
  readonly limit?: number | undefined;
}

/** The arguments of `listThreads`. */
export interface ThreadFilter extends Scroll {
  /** The reader: a user of the room, or an identity, by its ID. */
  readonly userId?: string | undefined;
  /** Only threads that are resolved, or only those that are not. */
  readonly resolved?: boolean | undefined;
  /** Only threads with comments that the reader has not read, or only those without. Needs `userId`. */
  readonly unread?: boolean | undefined;
  /** Only threads of which the reader is notified, or only the others. Needs `userId`. */
  readonly subscribed?: boolean | undefined;
}

/** The arguments of `listUsers`. */
export interface UserSearch extends Scroll {
  /**
   * The order: `created_at` or `name`, descending with `-` in front. Items that are equal in it are ordered
   * by ID. A page that follows a `cursor` has the cursor's order.
   */
  readonly sort?: "created_at" | "-created_at" | "name" | "-name" | undefined;
  /**
   * Only items with this text in the user's name or at the start of its ID. Matched literally, ignoring case,
   * and whether letters are composed or have marks of their own. Empty: no filter.
   */
  readonly search?: string | undefined;
  /** Only items created at or after this time. A date without a time is the start of that UTC day. */
  readonly from?: string | undefined;
  /** Only items created at or before this time. A date without a time is the end of that UTC day. */
  readonly to?: string | undefined;
  /** Only users who are online, or only those who are not. */
  readonly online?: boolean | undefined;
  /**
   * Only users who were last seen at or after this time, of those of the room's latest 10,000 sessions; users
   * who are online are seen now.
   */
  readonly lastSeenFrom?: string | undefined;
  /**
   * Only users who were last seen at or before this time, of those of the room's latest 10,000 sessions;
   * users who are online are seen now.
   */
  readonly lastSeenTo?: string | undefined;
}

/** The response of `getUserByCustomId`, `getUser`. */
export interface UserWithSessions {
  readonly user: wire.UserWithToken;
  /** Newest first, at most 100. */
  readonly sessions: wire.UserSession[];
}

/** The arguments of `listWebhooks`. */
export interface WebhookSearch extends Page {
  /**
   * The order: `created_at` or `updated_at` or `url`, descending with `-` in front. Items that are equal in
   * it are ordered by ID. A page that follows a `cursor` has the cursor's order.
   */
  readonly sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "url" | "-url" | undefined;
  /**
   * Only items with this text in the webhook's `url`. Matched literally, ignoring case, and whether letters
   * are composed or have marks of their own. Empty: no filter.
   */
  readonly search?: string | undefined;
  /** Adds `stats` to each: its attempts in so much time, and what waits now. */
  readonly stats?: "1h" | "24h" | "7d" | "30d" | undefined;
}

/** The arguments of `listWorkflows`. */
export interface WorkflowSearch extends Page {
  /**
   * The order: `created_at` or `updated_at` or `name`, descending with `-` in front. Items that are equal in
   * it are ordered by ID. A page that follows a `cursor` has the cursor's order.
   */
  readonly sort?: "created_at" | "-created_at" | "updated_at" | "-updated_at" | "name" | "-name" | undefined;
  /**
   * Only items with this text in the workflow's `name`. Matched literally, ignoring case, and whether letters
   * are composed or have marks of their own. Empty: no filter.
   */
  readonly search?: string | undefined;
}

/** The methods of `AtriumServer.comments`. */
export class Comments extends Resource {
  /**
   * List a room's comments. Oldest first. A search reads all comments of the room, or of the thread: up to
   * 10,000, a thousand at a time.
   */
  list(roomId: string, filter: CommentFilter = {}): Promise<Listed<"comments", wire.Comment>> {
    return this.rest.get(["rooms", roomId, "comments"], filter);
  }

  /**
   * List a room's comments, page by page as they are needed. Oldest first. A search reads all comments of the
   * room, or of the thread: up to 10,000, a thousand at a time.
   */
  each(roomId: string, filter: Filter<CommentFilter> = {}): AsyncGenerator<wire.Comment, void, void> {
    return eachOf("comments", (part) => this.rest.get(["rooms", roomId, "comments"], { ...filter, ...part }));
  }

  /**
   * Write a comment on behalf of a user. Without `threadId` it starts a thread, whose id is the comment's
   * own. `CONFLICT`: The room has as many comments as it can, or as many bytes of them.
   */
  create(roomId: string, comment: input.CommentInput): Promise<wire.Comment> {
    return this.only("comment", this.rest.post(["rooms", roomId, "comments"], comment));
  }

  /**
   * Edit, resolve or reopen a comment. The organization may change every comment. Everyone in the room
   * receives the change as `commentUpdated`. `mentions` replaces those of the comment: people who were not
   * mentioned before are notified.
   */
  update(roomId: string, commentId: string, changes: input.CommentUpdateInput): Promise<wire.Comment> {
    return this.only("comment", this.rest.patch(["rooms", roomId, "comments", commentId], changes));
  }

  /**
   * React to a comment on behalf of a user, or take that back. Everyone in the room receives the change as
   * `commentUpdated`. A reaction that is there changes nothing. `CONFLICT`: The comment has as many reactions
   * as it can, or this one has as many users.
   */
  react(
    roomId: string,
    commentId: string,
    userId: string,
    reaction: string,
    on?: boolean,
  ): Promise<wire.Comment> {
    return this.only(
      "comment",
      this.rest.post(["rooms", roomId, "comments", commentId, "reactions"], { userId, reaction, on }),
    );
  }

  /**
   * Delete a comment. The organization may delete every comment. The others of its thread stay. Everyone in
   * the room receives `commentDeleted`.
   */
  delete(roomId: string, commentId: string): Promise<void> {
    return this.rest.delete(["rooms", roomId, "comments", commentId]);
  }
}

/** The methods of `AtriumServer.documents`. */
export class Documents extends written.DocumentsBase {
  /**
   * List a room's documents. By name. The same address with `Upgrade: websocket` speaks the protocol of
   * Hocuspocus' clients.
   */
  list(roomId: string): Promise<wire.DocumentSummary[]> {
    return this.only("documents", this.rest.get(["rooms", roomId, "documents"]));
  }

  /**
   * Get a document's size, versions and latest change. The document as in the list, and the size of its
   * history, without its content.
   */
  summary(roomId: string, document: string): Promise<wire.DocumentDetails> {
    return this.only("document", this.rest.get(["rooms", roomId, "documents", document, "summary"]));
  }

  /**
   * Get the content of one of a document's shared types. As text or JSON, with the names of all shared types.
   * With `maxLength` it is cut off there, and `truncated` says so: texts end, open tags of XML are closed,
   * and entries of maps and arrays are left out. `CONFLICT`: The document is above 2 MiB or 200,000 items, or
   * the content is above 4,194,304 characters or 200 levels of nesting.
   */
  content(roomId: string, document: string, options: ContentOptions = {}): Promise<unknown> {
    return this.only("content", this.rest.get(["rooms", roomId, "documents", document, "content"], options));
  }

  /**
   * Get the content of one of a document's shared types. As text or JSON, with the names of all shared types.
   * With `maxLength` it is cut off there, and `truncated` says so: texts end, open tags of XML are closed,
   * and entries of maps and arrays are left out. `CONFLICT`: The document is above 2 MiB or 200,000 items, or
   * the content is above 4,194,304 characters or 200 levels of nesting.
   */
  preview(roomId: string, document: string, options: PreviewOptions): Promise<wire.DocumentContent> {
    return this.rest.get(["rooms", roomId, "documents", document, "content"], options);
  }

  /**
   * Delete a document with its history. Closes it for everyone who has it open, and deletes its suggestions.
   * `CONFLICT`: The document is the fork of a suggestion.
   */
  delete(roomId: string, document: string): Promise<void> {
    return this.rest.delete(["rooms", roomId, "documents", document]);
  }

  /**
   * Compare two versions of a document. The differences in one shared type, with their authors; none when
   * both versions show the same. A text or XML is one change with segments; of maps and arrays, each entry is
   * one. Applied in their order, the changes lead from one version to the other. `CONFLICT`: The document is
   * above 2 MiB, 200,000 items or 200 levels of nesting, or the versions differ by more than 4 MiB or 50,000
   * entries of the trail, or the response is above 8 MiB.
   */
  compare(roomId: string, document: string, options: CompareOptions = {}): Promise<wire.DocumentChange[]> {
    return this.only("changes", this.rest.get(["rooms", roomId, "documents", document, "compare"], options));
  }

  /**
   * List who wrote what in a document. Newest first: what one author wrote in a row, within a minute, is one
   * entry. Changes older than 30 days, or the days that the deployment sets, are one entry between two
   * versions, with all of its authors.
   */
  trail(
    roomId: string,
    document: string,
    options: HistoryOptions = {},
  ): Promise<{
    readonly trail: wire.TrailEntry[];
    readonly next: number | null;
  }> {
    return this.rest.get(["rooms", roomId, "documents", document, "trail"], options);
  }

  /**
   * Take back what one author wrote in a document. Between two versions, or since one. An edit like any
   * other: everyone who has the document open receives it, and the document as it was before becomes a
   * version. The edit deletes the author's insertions, except for elements in which others have written. It
   * writes the author's deletions again, unless they have been written already, or others have deleted or
   * replaced their place. Changes that are so old that only all of their authors are known stay. `CONFLICT`:
   * The document is too large for a comparison of the two versions, or it is rolled back or restored at the
   * same time.
   */
  rollBack(roomId: string, document: string, options: RollbackOptions): Promise<boolean> {
    return this.only(
      "applied",
      this.rest.post(["rooms", roomId, "documents", document, "rollback"], options),
    );
  }

  /**
   * List the versions of a document. Newest first. The room makes a version by itself before the first change
   * after two minutes of quiet, and after five minutes of editing. It drops these versions when the trail is
   * no longer kept minute by minute. Read one with the parameter `version` of the document's own endpoints.
   */
  versions(
    roomId: string,
    document: string,
    options: HistoryOptions = {},
  ): Promise<{
    readonly versions: wire.DocumentVersion[];
    readonly next: number | null;
  }> {
    return this.rest.get(["rooms", roomId, "documents", document, "versions"], options);
  }

  /**
   * Name the document as it is now. A named version is kept for good. `CONFLICT`: Nothing has changed since
   * another named version, or 1000 are named already.
   */
  createVersion(roomId: string, document: string, name: string): Promise<wire.DocumentVersion> {
    return this.only(
      "version",
      this.rest.post(["rooms", roomId, "documents", document, "versions"], { name }),
    );
  }

  /**
   * Name a version, rename it, or take its name. With `name: null` it is as if the room had made it by
   * itself. `CONFLICT`: The document has 1000 named versions already.
   */
  renameVersion(
    roomId: string,
    document: string,
    version: number,
    name: string | null,
  ): Promise<wire.DocumentVersion> {
    return this.only(
      "version",
      this.rest.patch(["rooms", roomId, "documents", document, "versions", `${version}`], { name }),
    );
  }

  /**
   * Delete a version. Nothing of what was written is deleted. `CONFLICT`: The document is the fork of a
   * suggestion.
   */
  deleteVersion(roomId: string, document: string, version: number): Promise<void> {
    return this.rest.delete(["rooms", roomId, "documents", document, "versions", `${version}`]);
  }

  /**
   * Bring a document back to a version. An edit like any other: everyone who has the document open receives
   * it, and the document as it was before becomes a version. The writes of others stay from the moment on at
   * which the service reads the document for it: an edit that arrives after the call and before that moment
   * is taken back too. `CONFLICT`: The document is above 2 MiB or 200,000 items, or it is restored or rolled
   * back at the same time.
   */
  restoreVersion(roomId: string, document: string, version: number): Promise<boolean> {
    return this.only(
      "applied",
      this.rest.post(["rooms", roomId, "documents", document, "versions", `${version}`, "restore"]),
    );
  }

  /**
   * Read a document block by block, with places to edit. The paragraphs and headings of an editor's XML, or
   * the lines of a text. Each has an `anchor` before its first character and an `end` after its last one,
   * which stay at their characters while others write. Send `base` with an edit: it says what you have read.
   * `CONFLICT`: The document is above 2 MiB or 200,000 items, or the block of `after` is gone.
   */
  blocks(roomId: string, document: string, options: BlocksOptions = {}): Promise<wire.ReadBlocks> {
    return this.rest.get(["rooms", roomId, "documents", document, "blocks"], options);
  }

  /**
   * Edit a document while people write in it. Inserts, deletes, replaces or formats text at places that the
   * program has read: quotations, anchors, or the start and end. All edits of a list are applied, or none, as
   * one update with the program as its author. Text that people type is never overwritten: a place that was
   * changed meanwhile is a `CONFLICT` whose message has the present text around it. With an `Idempotency-Key`
   * the edits are applied once. A text that is being generated goes on at the `end` of the edit before:
   * others see it grow. Edits at the start or the end create a document that does not exist. `CONFLICT`: A
   * place is not in the document as you have read it, or more than once; people are writing at it; The
   * document is above 2 MiB or 200,000 items; or the document is full.
   */
  edit(
    roomId: string,
    document: string,
    edits: readonly input.DocumentEdit[],
    options: EditOptions = {},
  ): Promise<wire.EditedDocument> {
    return this.rest.post(["rooms", roomId, "documents", document, "edits"], { edits, ...options });
  }

  /**
   * Suggest changes of a document. Makes a fork of the document that its author alone writes into, with these
   * edits, and by any client that opens `fork`. Nothing of it reaches the document before a holder of
   * `documents:write` accepts it. Edits are those of the document's own endpoint: if one is refused, no
   * suggestion is made. With an `Idempotency-Key` it is made once. `CONFLICT`: A place is not in the document
   * as you have read it; the document has 100 pending suggestions, is itself a suggestion's fork, or is above
   * 2 MiB or 200,000 items.
   */
  suggest(
    roomId: string,
    document: string,
    options: SuggestionOptions = {},
  ): Promise<{
    readonly suggestion: wire.Suggestion;
    readonly edits: {
      readonly text: string;
      readonly end: string | null;
    }[];
  }> {
    return this.rest.post(["rooms", roomId, "documents", document, "suggestions"], options);
  }

  /**
   * List the suggestions of a document. Newest first: those that are pending, and the latest 200 that were
   * reviewed.
   */
  suggestions(
    roomId: string,
    document: string,
    options: SuggestionsOptions = {},
  ): Promise<{
    readonly suggestions: wire.Suggestion[];
    readonly next: number | null;
  }> {
    return this.rest.get(["rooms", roomId, "documents", document, "suggestions"], options);
  }

  /**
   * Read a suggestion with its parts. Compares the suggestion with the document as it is. Send `seq` with the
   * review: it says what you have seen. `CONFLICT`: The document or the suggestion is above 2 MiB or 200,000
   * items by now.
   */
  suggestion(
    roomId: string,
    document: string,
    suggestionId: string,
  ): Promise<{
    readonly suggestion: wire.Suggestion;
    readonly seq: number;
    readonly parts: wire.SuggestedPart[];
  }> {
    return this.rest.get(["rooms", roomId, "documents", document, "suggestions", suggestionId]);
  }

  /**
   * Edit a suggestion of your own. As the document's own endpoint, in the fork. For its author alone.
   * `CONFLICT`: A place is not in the suggestion as you have read it, or the suggestion was reviewed.
   */
  editSuggestion(
    roomId: string,
    document: string,
    suggestionId: string,
    edits: readonly input.DocumentEdit[],
    options: EditOptions = {},
  ): Promise<wire.EditedDocument> {
    return this.rest.post(["rooms", roomId, "documents", document, "suggestions", suggestionId, "edits"], {
      edits,
      ...options,
    });
  }

  /**
   * Accept parts of a suggestion, and reject the rest. One update of the document, whose entry in the trail
   * has both names, after a version of the document as it was. The fork is deleted. `CONFLICT`: The
   * suggestion has changed since `seq`, it was reviewed already, an accepted part is stale or unknown, or the
   * document changes all the time.
   */
  reviewSuggestion(
    roomId: string,
    document: string,
    suggestionId: string,
    review: ReviewOptions,
  ): Promise<{
    readonly suggestion: wire.Suggestion;
    readonly parts: wire.SuggestedPart[];
  }> {
    return this.rest.post(
      ["rooms", roomId, "documents", document, "suggestions", suggestionId, "review"],
      review,
    );
  }

  /**
   * Withdraw a suggestion. With its fork. For its author, and for those who may write documents. `CONFLICT`:
   * The suggestion was reviewed.
   */
  withdrawSuggestion(roomId: string, document: string, suggestionId: string): Promise<void> {
    return this.rest.delete(["rooms", roomId, "documents", document, "suggestions", suggestionId]);
  }
}

/** The methods of `AtriumServer.events`. */
export class Events extends written.EventsBase {}

/** The methods of `AtriumServer.files`. */
export class Files extends written.FilesBase {
  /**
   * List a room's files. Newest first, or in the order of `sort`; of file names without regard to the case of
   * ASCII letters. A user's JWT gives access to its own room.
   */
  list(
    roomId: string,
    filter: Scroll & FileFilter & FileSort = {},
  ): Promise<Listed<"files", wire.StorageFile>> {
    return this.rest.get(["files"], { roomId, ...filter });
  }

  /**
   * List a room's files, page by page as they are needed. Newest first, or in the order of `sort`; of file
   * names without regard to the case of ASCII letters. A user's JWT gives access to its own room.
   */
  each(roomId: string, filter: FileFilter & FileSort = {}): AsyncGenerator<wire.StorageFile, void, void> {
    return eachOf("files", (part) => this.rest.get(["files"], { roomId, ...filter, ...part }));
  }

  /**
   * Delete a file. When this returns, the file can no longer be read. A user's JWT deletes only files that
   * the user uploaded; viewers cannot delete.
   */
  delete(key: string, roomId?: string): Promise<void> {
    return this.rest.delete(["upload"], { body: { key }, query: { roomId } });
  }

  /**
   * Find files of all rooms by name. Newest first. A request reads the names of at most 5,000 files: while
   * `cursor` is not null, a page may have fewer files than `limit`, or none, and the search goes on behind
   * it.
   */
  find(
    filter: FileSearch & Pick<Scroll, "limit" | "after"> = {},
  ): Promise<Listed<"files", wire.FoundFile, Pick<ScrollShown, "cursor">>> {
    return this.rest.get(["organization", "files"], filter);
  }

  /**
   * Find files of all rooms by name, page by page as they are needed. Newest first. A request reads the names
   * of at most 5,000 files: while `cursor` is not null, a page may have fewer files than `limit`, or none,
   * and the search goes on behind it.
   */
  eachFound(filter: FileSearch = {}): AsyncGenerator<wire.FoundFile, void, void> {
    return eachOf("files", (part) => this.rest.get(["organization", "files"], { ...filter, ...part }));
  }
}

/** The methods of `AtriumServer.groups`. */
export class Groups extends Resource {
  /** List groups. Newest first, or in the order of `sort`. */
  list(filter: Search = {}): Promise<Listed<"groups", wire.Group>> {
    return this.rest.get(["groups"], filter);
  }

  /** Create a group. A set of identities, such as a team. `CONFLICT`: Another group has the `customId`. */
  create(group: input.GroupInput): Promise<wire.Group> {
    return this.only("group", this.rest.post(["groups"], group));
  }

  /** Get a group by its custom ID. The response is the same as by the group's ID. */
  getByCustomId(customId: string): Promise<wire.Group> {
    return this.only("group", this.rest.get(["groups", "custom", customId]));
  }

  /** Get a group. Its members are a list of their own. */
  get(groupId: string): Promise<wire.Group> {
    return this.only("group", this.rest.get(["groups", groupId]));
  }

  /**
   * Update a group. Absent fields stay as they are, and `null` removes the `customId`. `CONFLICT`: Another
   * group has the `customId`.
   */
  update(groupId: string, changes: input.GroupUpdateInput): Promise<wire.Group> {
    return this.only("group", this.rest.patch(["groups", groupId], changes));
  }

  /** Delete a group. Its members stay identities. */
  delete(groupId: string): Promise<void> {
    return this.rest.delete(["groups", groupId]);
  }

  /** List the members of a group. The members who were added last come first. */
  listMembers(groupId: string, part: Scroll = {}): Promise<Listed<"members", wire.GroupMember>> {
    return this.rest.get(["groups", groupId, "members"], part);
  }

  /** Add an identity to a group. A member stays one. `CONFLICT`: The identity is in 200 groups already. */
  addMember(groupId: string, identityId: string): Promise<void> {
    return this.rest.put(["groups", groupId, "members", identityId]);
  }

  /** Take an identity out of a group. The identity stays. */
  removeMember(groupId: string, identityId: string): Promise<void> {
    return this.rest.delete(["groups", groupId, "members", identityId]);
  }
}

/** The methods of `AtriumServer.identities`. */
export class Identities extends Resource {
  /** List identities. Newest first, or in the order of `sort`. */
  list(filter: IdentitySearch = {}): Promise<Listed<"identities", wire.Identity>> {
    return this.rest.get(["identities"], filter);
  }

  /** List identities, page by page as they are needed. Newest first, or in the order of `sort`. */
  each(filter: Filter<IdentitySearch> = {}): AsyncGenerator<wire.Identity, void, void> {
    return eachOf("identities", (part) => this.rest.get(["identities"], { ...filter, ...part }));
  }

  /**
   * Create an identity. An end user of yours in all rooms, or an agent. Only the link of a room makes guests.
   * `CONFLICT`: Another identity has the `customId`.
   */
  create(identity: input.IdentityInput): Promise<wire.Identity> {
    return this.only("identity", this.rest.post(["identities"], identity));
  }

  /** Get an identity by its custom ID. The response is the same as by the identity's ID. */
  getByCustomId(customId: string): Promise<wire.Identity> {
    return this.only("identity", this.rest.get(["identities", "custom", customId]));
  }

  /** Get an identity. With its address, which only the organization sees. */
  get(identityId: string): Promise<wire.Identity> {
    return this.only("identity", this.rest.get(["identities", identityId]));
  }

  /**
   * Update an identity. Absent fields stay as they are, and `null` removes a field. `CONFLICT`: Another
   * identity has the `customId`.
   */
  update(identityId: string, changes: input.IdentityUpdateInput): Promise<wire.Identity> {
    return this.only("identity", this.rest.patch(["identities", identityId], changes));
  }

  /** Delete an identity. Its name, picture and address are erased, and it leaves its groups. */
  delete(identityId: string): Promise<void> {
    return this.rest.delete(["identities", identityId]);
  }

  /** List the groups of an identity. All of them, by name: at most 200. */
  listGroups(identityId: string): Promise<{
    readonly groups: wire.Group[];
  }> {
    return this.rest.get(["identities", identityId, "groups"]);
  }

  /** List the rooms of an identity. The rooms that the identity has joined, the most recent first. */
  listRooms(identityId: string, part: Scroll = {}): Promise<Listed<"rooms", wire.RoomOfIdentity>> {
    return this.rest.get(["identities", identityId, "rooms"], part);
  }

  /**
   * Create a token of an identity. A token as from `POST /identify`. It is not stored. Signed-in members get
   * at most an hour.
   */
  createToken(identityId: string, token: input.IdentityTokenInput = {}): Promise<wire.IdentityToken> {
    return this.rest.post(["identities", identityId, "tokens"], token);
  }

  /**
   * End the tokens of an identity. Refuses all tokens of the identity and of its users so far, and closes the
   * sockets that joined with them (`authFailed`, 4401).
   */
  endTokens(identityId: string): Promise<void> {
    return this.rest.delete(["identities", identityId, "tokens"]);
  }

  /**
   * Export what is kept of an identity, page by page as they are needed. In all rooms, page by page, until
   * `cursor` is null: the identity, its groups, its access, its events and its inbox, then room by room what
   * is kept of its user there, and in which rooms it is mentioned. It also finds the users of an identity
   * that was deleted.
   */
  eachRecord(identityId: string): AsyncGenerator<wire.RecordOfIdentity, void, void> {
    return eachOf("records", ({ after }) =>
      this.rest.get(["identities", identityId, "personal-data"], { after }),
    );
  }

  /**
   * Delete an identity with what is kept of it. Deletes the identity as `DELETE /identities/:identityId`
   * does, then each of its users in all rooms as `DELETE /users/:userId/personal-data` does, and removes it
   * from mentions in all other rooms. One request does 600 rooms; it answers `RATE_LIMITED` while more are
   * left, and goes on when it is repeated. It also erases the users of an identity that was deleted.
   */
  erase(identityId: string): Promise<void> {
    return this.rest.delete(["identities", identityId, "personal-data"]);
  }
}

/** The methods of `AtriumServer.inbox(identityId)`. */
export class Inbox extends written.InboxBase {
  /**
   * List the notifications of an identity. Newest first: those of rooms that the identity may enter now, and
   * those without a room.
   */
  list(
    filter: InboxSearch = {},
  ): Promise<Listed<"notifications", wire.InboxNotification, Pick<ScrollShown, "cursor">>> {
    return this.rest.get(["identities", this.identityId, "inbox-notifications"], filter);
  }

  /**
   * Count the unread notifications of an identity. Counted are those of rooms that the identity may enter
   * now, and those without a room.
   */
  count(): Promise<number> {
    return this.only(
      "unread",
      this.rest.get(["identities", this.identityId, "inbox-notifications", "count"]),
    );
  }

  /**
   * Get the notification settings of an identity. Without settings of its own, everything is sent that the
   * organization's defaults allow.
   */
  getSettings(): Promise<wire.NotificationSettings> {
    return this.only("settings", this.rest.get(["identities", this.identityId, "notification-settings"]));
  }

  /**
   * Change the notification settings of an identity. Absent fields stay as they are, and `null` removes the
   * entry of a kind or a room.
   */
  updateSettings(changes: input.NotificationSettingsUpdate): Promise<wire.NotificationSettings> {
    return this.only(
      "settings",
      this.rest.patch(["identities", this.identityId, "notification-settings"], changes),
    );
  }

  /**
   * List what was sent to an identity. The latest 200 times that a channel was to send notifications, newest
   * first, and why some were not sent. Notifications that were read before their time are not among them, nor
   * pushes without a browser.
   */
  listSent(part: { readonly limit?: number | undefined } = {}): Promise<wire.SentNotifications[]> {
    return this.only("sent", this.rest.get(["identities", this.identityId, "sent-notifications"], part));
  }

  /**
   * List the browsers that an identity has subscribed. Subscriptions that hold now: each ends with the tokens
   * of the identity, and with the key.
   */
  listPushSubscriptions(): Promise<wire.PushSubscriptions> {
    return this.rest.get(["identities", this.identityId, "push-subscriptions"]);
  }

  /**
   * Unsubscribe a browser of an identity. Stops push notifications to this browser. Without such a
   * subscription it changes nothing.
   */
  deletePushSubscription(endpoint: string): Promise<void> {
    return this.rest.delete(["identities", this.identityId, "push-subscriptions"], { body: { endpoint } });
  }
}

/** The methods of `AtriumServer.organization`. */
export class Organization extends Resource {
  /**
   * List API keys. Newest first, or in the order of `sort`: of names without regard to the case of ASCII
   * letters, and keys that were never used before all others.
   */
  listKeys(page: KeySearch = {}): Promise<Listed<"api_keys", wire.ApiKey>> {
    return this.rest.get(["api-keys"], page);
  }

  /**
   * List API keys, page by page as they are needed. Newest first, or in the order of `sort`: of names without
   * regard to the case of ASCII letters, and keys that were never used before all others.
   */
  eachKey(filter: Filter<KeySearch> = {}): AsyncGenerator<wire.ApiKey, void, void> {
    return eachOf("api_keys", (part) => this.rest.get(["api-keys"], { ...filter, ...part }));
  }

  /**
   * Create an API key. `key` is shown only once; a retry with the same Idempotency-Key gets 409. With
   * `permissions` or `rooms`, the key is narrowed: it acts on the content of these rooms alone, as far as the
   * permissions go, and can neither read nor change anything else of the organization. Both stay as they are;
   * a key with other rights is another key.
   */
  createKey(
    name?: string,
    narrowing: input.ApiKeyNarrowing = {},
  ): Promise<{
    readonly api_key: wire.ApiKey;
    readonly key: string;
  }> {
    return this.rest.post(["api-keys"], { name, ...narrowing });
  }

  /**
   * Revoke an API key. Takes effect within 10 seconds everywhere. Ends what the key made, too: API keys, and
   * what these made, invitations and links for a new password. Users and their tokens stay: end those with
   * `endAllTokens`. The key that makes the request cannot revoke itself, and stays if the revoked key made
   * it, so that a key can be replaced. `CONFLICT`: The key makes this request itself.
   */
  revokeKey(keyId: string): Promise<void> {
    return this.rest.delete(["api-keys", keyId]);
  }

  /** Read the organization. Its `id` is the account ID in every path. */
  get(): Promise<wire.OrganizationRecord> {
    return this.only("organization", this.rest.get(["organization"]));
  }

  /** Rename the organization. Only owners and API keys can do this. */
  rename(name: string): Promise<wire.OrganizationRecord> {
    return this.only("organization", this.rest.patch(["organization"], { name }));
  }

  /**
   * Delete the organization with everything that it owns. Cannot be undone. API keys, memberships,
   * invitations and users' tokens end at once, everywhere within 10 seconds. Webhooks, workflows, rooms,
   * users and files are then removed in the background: thousands within a minute, very many within hours; no
   * event is delivered any more. The persons stay, with their other organizations. Only owners and API keys
   * can do this.
   */
  delete(confirm: string): Promise<void> {
    return this.rest.delete(["organization"], { body: { confirm } });
  }

  /**
   * List members. The people who can sign in to the dashboard for this organization, most recent first, or in
   * the order of `sort`; of names without regard to the case of ASCII letters.
   */
  listMembers(page: MemberSearch = {}): Promise<Listed<"members", wire.Member>> {
    return this.rest.get(["members"], page);
  }

  /**
   * List members, page by page as they are needed. The people who can sign in to the dashboard for this
   * organization, most recent first, or in the order of `sort`; of names without regard to the case of ASCII
   * letters.
   */
  eachMember(filter: Filter<MemberSearch> = {}): AsyncGenerator<wire.Member, void, void> {
    return eachOf("members", (part) => this.rest.get(["members"], { ...filter, ...part }));
  }

  /**
   * Make a member an owner, or an owner a member. Takes effect within 30 seconds everywhere. Only owners and
   * API keys can do this. The last owner stays one. The open invitations of an owner who becomes a member end
   * at once. `CONFLICT`: The member is the last owner.
   */
  setRole(personId: string, role: "owner" | "member"): Promise<wire.Member> {
    return this.only("member", this.rest.patch(["members", personId], { role }));
  }

  /**
   * Make a link for a member who forgot their password. By `url`, which is shown only once, the person
   * chooses a new password, once and within an hour; all of their sign-in sessions end then. Only owners and
   * API keys can do this, and only for people who are members of no organization that the owner does not own.
   * A newer link, or a change of the password, ends the earlier ones.
   */
  createPasswordLink(personId: string): Promise<{
    readonly url: string;
    readonly expires_at: string;
  }> {
    return this.rest.post(["members", personId, "password-link"]);
  }

  /**
   * Remove a member. Takes effect within 30 seconds everywhere. Owners can remove anyone, members only
   * themselves. The last owner cannot be removed. Invitations that the member made end at once. `CONFLICT`:
   * The member is the last owner.
   */
  removeMember(personId: string): Promise<void> {
    return this.rest.delete(["members", personId]);
  }

  /** List invitations. Valid invitations, newest first, without their links. */
  listInvitations(page: Scroll = {}): Promise<Listed<"invitations", wire.Invitation>> {
    return this.rest.get(["invitations"], page);
  }

  /** List invitations, page by page as they are needed. Valid invitations, newest first, without their links. */
  eachInvitation(): AsyncGenerator<wire.Invitation, void, void> {
    return eachOf("invitations", (part) => this.rest.get(["invitations"], part));
  }

  /**
   * Invite a person. `url` lets one person join within seven days: anyone who has it or, with `email`, only a
   * person with this address, to whom the service mails it where it sends mail. It is shown only once; a
   * retry with the same Idempotency-Key gets 409.
   */
  invite(
    role: "owner" | "member" = "member",
    email: string | null = null,
  ): Promise<{
    readonly invitation: wire.Invitation;
    readonly url: string;
    readonly mailed: boolean;
  }> {
    return this.rest.post(["invitations"], { role, email });
  }

  /** Withdraw an invitation. Its link stops working. Only owners and API keys can do this. */
  withdrawInvitation(invitationId: string): Promise<void> {
    return this.rest.delete(["invitations", invitationId]);
  }

  /**
   * Read the audit log. Newest first: who changed the organization, its members, invitations, API keys,
   * webhooks, workflows and quotas, ended tokens, or deleted rooms, users and files. The contents of rooms,
   * and the actions of their users, are in the [events](#tag/events) instead. Entries are kept for 90 days,
   * unless the operator of the service has set another time. Only owners and API keys can read it.
   */
  listAuditEntries(
    filter: AuditFilter = {},
  ): Promise<Listed<"entries", wire.AuditEntry, Pick<ScrollShown, "cursor">>> {
    return this.rest.get(["audit"], filter);
  }

  /** Get an overview. Totals over all rooms, and activity in the last 24 hours. */
  overview(): Promise<wire.Overview> {
    return this.rest.get(["overview"]);
  }

  /**
   * Get the usage over time. Events and workflow runs of the last hour, 24 hours, 7 days or 30 days. `GET
   * …/quotas` has how much of each quota is used now.
   */
  usage(range?: "1h" | "24h" | "7d" | "30d"): Promise<wire.Usage> {
    return this.only("usage", this.rest.get(["usage"], { range }));
  }

  /**
   * List quotas. The organization's use of each quota, and its limit. Most counts are exact. Some are late:
   * users online by about a second, waiting events by up to a minute, requests in a second by up to 20
   * seconds, and the bytes of stores by up to a MiB for each room. A request above a quota fails with
   * `FORBIDDEN`, or `RATE_LIMITED` for the rate of requests. Only the operator of the service can raise a
   * limit.
   */
  listQuotas(): Promise<{
    readonly quotas: wire.Quota[];
  }> {
    return this.rest.get(["quotas"]);
  }

  /**
   * End the tokens of all users. The same for every user of the organization, for example after a leak. Only
   * owners and API keys can do this. With more than 200 rooms online, the sockets of the others close within
   * minutes.
   */
  endAllTokens(): Promise<void> {
    return this.rest.delete(["tokens"]);
  }

  /** Get the default access of new rooms. Empty unless it was set: identities may not enter a new room then. */
  getDefaultAccess(): Promise<wire.Permission[]> {
    return this.only("default_accesses", this.rest.get(["access", "default"]));
  }

  /**
   * Set the default access of new rooms. Rooms that are created from now on begin with it; the others keep
   * theirs. Only owners and API keys can do this.
   */
  setDefaultAccess(
    defaultAccesses: NonNullable<input.RoomAccessInput["defaultAccesses"]>,
  ): Promise<wire.Permission[]> {
    return this.only("default_accesses", this.rest.put(["access", "default"], { defaultAccesses }));
  }
}

/** The methods of `AtriumServer.requests`. */
export class Requests extends Resource {
  /**
   * List API requests. Newest first, about a second late: the latest 20,000 requests of the last 7 days,
   * unless the operator of the service has set another time. Failures are all logged; where there are more
   * than some dozen requests a second, successes are sampled, and `weight` says how many requests each stands
   * for. Successful reads of this log are not in it.
   */
  list(
    filter: RequestFilter = {},
  ): Promise<Listed<"requests", wire.ApiRequest, Pick<ScrollShown, "cursor">>> {
    return this.rest.get(["requests"], filter);
  }

  /**
   * Get an API request by its request ID. The ID is in the envelope of every response, and in its
   * `X-Request-Id` header. An `X-Request-Id` or a trace ID (W3C `traceparent`) that the client has sent finds
   * the latest request with it.
   */
  get(requestId: string): Promise<wire.ApiRequest> {
    return this.only("request", this.rest.get(["requests", requestId]));
  }
}

/** The methods of `AtriumServer.rooms`. */
export class Rooms extends Resource {
  /**
   * List rooms. Newest first, or in the order of `sort`. The counters and `last_active_at` are at most 2
   * seconds behind the live room.
   */
  list(filter: RoomSearch = {}): Promise<Listed<"rooms", wire.ListedRoom>> {
    return this.rest.get(["rooms"], filter);
  }

  /**
   * List rooms, page by page as they are needed. Newest first, or in the order of `sort`. The counters and
   * `last_active_at` are at most 2 seconds behind the live room.
   */
  each(filter: Filter<RoomSearch> = {}): AsyncGenerator<wire.ListedRoom, void, void> {
    return eachOf("rooms", (part) => this.rest.get(["rooms"], { ...filter, ...part }));
  }

  /**
   * Create a room. The room is empty and active. `FORBIDDEN` above the quota of rooms. `CONFLICT`: Another
   * room of the organization has the `customId`.
   */
  create(room: input.RoomInput): Promise<wire.Room> {
    return this.only("room", this.rest.post(["rooms"], room));
  }

  /**
   * Update, close or reopen a room. Closing a room ends its sessions and closes its sockets. Joins are
   * refused until the state is `active` again. `limits` hold when this returns, also for open connections.
   * `CONFLICT`: Another room of the organization has the `customId`.
   */
  update(roomId: string, changes: input.RoomUpdateInput): Promise<wire.Room> {
    return this.only("room", this.rest.patch(["rooms", roomId], changes));
  }

  /**
   * Delete a room with its users and everything in it. Closes the room's sockets, and refuses its users'
   * tokens from then on. A deletion cannot be undone; closing a room keeps its data.
   */
  delete(roomId: string): Promise<void> {
    return this.rest.delete(["rooms", roomId]);
  }

  /** Recount the users online in a room. Safe at any time. If the counter was correct, both numbers are equal. */
  reconcile(roomId: string): Promise<Reconciliation> {
    return this.rest.post(["rooms", roomId, "reconcile"]);
  }

  /**
   * Get a room by its custom ID. The query parameters filter and order the users only. The room's stats are
   * live.
   */
  getByCustomId(customId: string, users: Search = {}): Promise<RoomWithUsers> {
    return this.rest.get(["rooms", "custom", customId], users);
  }

  /** Get a room. The query parameters filter and order the users only. The room's stats are live. */
  get(roomId: string, users: Search = {}): Promise<RoomWithUsers> {
    return this.rest.get(["rooms", roomId], users);
  }
}

/** The methods of `AtriumServer.stores`. */
export class Stores extends written.StoresBase {
  /**
   * Apply batches of writes to a room's stores. Takes 1 to 100 batches and answers each by itself, in order:
   * one that is refused does not stop the next. A batch is remembered under its `requestId` for its sender,
   * as `STORE_BATCH` over the socket is: sent again, or sent over both, it is carried out once and gets the
   * same response. The batches of a request write about 3 MiB of keys and values together; further ones are
   * refused with `RATE_LIMITED` and can be sent again. So a page that is being closed can send what is left
   * by a `keepalive` request. A user's JWT writes as that user, in its own room; viewers cannot write, and a
   * closed room rejects users with 403.
   */
  batch(roomId: string, requests: readonly StoreBatch[]): Promise<readonly BatchResponse[]> {
    return this.only("responses", this.rest.post(["rooms", roomId, "stores", "batch"], { requests }));
  }

  /**
   * List a room's stores. In the order of their names, with the size of each. A store without entries is not
   * listed.
   */
  list(roomId: string): Promise<wire.StoreSummary[]> {
    return this.only("stores", this.rest.get(["rooms", roomId, "stores"]));
  }

  /**
   * Get the entries of a store, page by page. In the order of their keys. A page has at most about 1 MiB, and
   * at least one entry; pass its `next` as `after` to get the page that follows. The last page has no `next`.
   * A store that does not exist yet is empty.
   */
  getPage(roomId: string, store: string, page: EntryPage = {}): Promise<wire.Entries> {
    return this.rest.get(["rooms", roomId, "stores", store], page);
  }

  /**
   * Get an entry of a store. The response has the entry's `version`, for a later write with `ifVersion`. An
   * entry that does not exist is `NOT_FOUND`.
   */
  get(roomId: string, store: string, key: string): Promise<wire.Entry> {
    return this.rest.get(["rooms", roomId, "stores", store, key]);
  }

  /**
   * Set an entry of a store. Connected users receive the same `storeChanged` event as after a participant's
   * `STORE_SET`. `CONFLICT`: The entry has another version than `ifVersion`.
   */
  set(
    roomId: string,
    store: string,
    key: string,
    value: unknown,
    options: WriteOptions = {},
  ): Promise<wire.Written> {
    return this.rest.request({
      method: "PUT",
      path: ["rooms", roomId, "stores", store, key],
      body: { value, ...options },
      isConditional: options.ifVersion !== undefined,
    });
  }

  /**
   * Merge fields into an entry of a store. Merges the top level. `CONFLICT`: The entry has another version
   * than `ifVersion`, or its value is no JSON object.
   */
  update(
    roomId: string,
    store: string,
    key: string,
    value: object,
    options: WriteOptions = {},
  ): Promise<wire.Written> {
    return this.rest.request({
      method: "PATCH",
      path: ["rooms", roomId, "stores", store, key],
      body: { value, ...options },
      isConditional: options.ifVersion !== undefined,
    });
  }

  /**
   * Delete an entry of a store. Deleting an entry that does not exist changes nothing. `CONFLICT`: The entry
   * has another version than `ifVersion`.
   */
  delete(roomId: string, store: string, key: string, options: WriteOptions = {}): Promise<void> {
    return this.rest.request({
      method: "DELETE",
      path: ["rooms", roomId, "stores", store, key],
      query: options,
      isConditional: options.ifVersion !== undefined,
    });
  }
}

/** The methods of `AtriumServer.streams`. */
export class Streams extends Resource {
  /** List a room's streams. By name. */
  list(
    roomId: string,
    page: Pick<Scroll, "limit" | "after"> = {},
  ): Promise<
    Listed<
      "streams",
      {
        readonly name: string;
        readonly content_type: string;
        readonly next_offset: string;
        readonly bytes: number;
        readonly closed: boolean;
        readonly ttl_seconds: number | null;
        readonly expires_at: string | null;
        readonly created_at: string;
      },
      Pick<ScrollShown, "cursor">
    >
  > {
    return this.rest.get(["rooms", roomId, "streams"], page);
  }

  /** List a room's streams, page by page as they are needed. By name. */
  each(roomId: string): AsyncGenerator<
    {
      readonly name: string;
      readonly content_type: string;
      readonly next_offset: string;
      readonly bytes: number;
      readonly closed: boolean;
      readonly ttl_seconds: number | null;
      readonly expires_at: string | null;
      readonly created_at: string;
    },
    void,
    void
  > {
    return eachOf("streams", (part) => this.rest.get(["rooms", roomId, "streams"], part));
  }
}

/** The methods of `AtriumServer.threads`. */
export class Threads extends Resource {
  /**
   * List a room's threads. The latest activity first. With a reader, each thread says what the reader has
   * read, and the filters `unread` and `subscribed` work.
   */
  list(roomId: string, filter: ThreadFilter = {}): Promise<Listed<"threads", wire.Thread>> {
    return this.rest.get(["rooms", roomId, "threads"], filter);
  }

  /**
   * List a room's threads, page by page as they are needed. The latest activity first. With a reader, each
   * thread says what the reader has read, and the filters `unread` and `subscribed` work.
   */
  each(roomId: string, filter: Filter<ThreadFilter> = {}): AsyncGenerator<wire.Thread, void, void> {
    return eachOf("threads", (part) => this.rest.get(["rooms", roomId, "threads"], { ...filter, ...part }));
  }

  /** Get a thread. With a reader, it says what the reader has read. */
  get(
    roomId: string,
    threadId: string,
    reader: { readonly userId?: string | undefined } = {},
  ): Promise<wire.Thread> {
    return this.only("thread", this.rest.get(["rooms", roomId, "threads", threadId], reader));
  }

  /**
   * List the people who take part in a thread. The authors of its comments, and the users and identities that
   * are mentioned in it.
   */
  participants(roomId: string, threadId: string): Promise<readonly wire.ThreadParticipant[]> {
    return this.only("participants", this.rest.get(["rooms", roomId, "threads", threadId, "participants"]));
  }

  /**
   * Resolve or reopen a thread. Its first comment is resolved or reopened, and everyone in the room receives
   * that as `commentUpdated`.
   */
  update(roomId: string, threadId: string, changes: { readonly resolved: boolean }): Promise<wire.Thread> {
    return this.only("thread", this.rest.patch(["rooms", roomId, "threads", threadId], changes));
  }

  /**
   * Delete a thread with its comments. No request finds the thread or its comments any more, and the thread
   * leaves all inboxes. Everyone in the room receives `commentDeleted` for each comment; of a large thread,
   * most of them follow the response within seconds.
   */
  delete(roomId: string, threadId: string): Promise<void> {
    return this.rest.delete(["rooms", roomId, "threads", threadId]);
  }

  /** Notify a reader of a thread's comments. Whatever the reader's settings are. */
  subscribe(roomId: string, threadId: string, userId: string): Promise<wire.Thread> {
    return this.only(
      "thread",
      this.rest.post(["rooms", roomId, "threads", threadId, "subscribe"], { userId }),
    );
  }

  /** Notify a reader of a thread's comments no longer. Not even when the reader is mentioned in it. */
  unsubscribe(roomId: string, threadId: string, userId: string): Promise<wire.Thread> {
    return this.only(
      "thread",
      this.rest.post(["rooms", roomId, "threads", threadId, "unsubscribe"], { userId }),
    );
  }

  /**
   * Record that a reader has read a thread. A position, not a mark: comments after it stay unread. An earlier
   * position changes nothing. The thread is read in the reader's inbox as well.
   */
  markAsRead(roomId: string, threadId: string, userId: string, seq?: number): Promise<wire.Thread> {
    return this.only(
      "thread",
      this.rest.post(["rooms", roomId, "threads", threadId, "mark-as-read"], { userId, seq }),
    );
  }

  /** Get what a reader is notified of in a room. The reader is a user of the room, or an identity. */
  settings(roomId: string, userId: string): Promise<wire.SubscriptionSettings> {
    return this.only("settings", this.rest.get(["rooms", roomId, "users", userId, "subscription-settings"]));
  }

  /**
   * Change what a reader is notified of in a room. Fields that are left out stay. The reader is a user of the
   * room, or an identity.
   */
  updateSettings(
    roomId: string,
    userId: string,
    changes: {
      readonly threads?: "all" | "replies_and_mentions" | "none" | undefined;
      readonly textMentions?: "mine" | "none" | undefined;
    },
  ): Promise<wire.SubscriptionSettings> {
    return this.only(
      "settings",
      this.rest.patch(["rooms", roomId, "users", userId, "subscription-settings"], changes),
    );
  }
}

/** The methods of `AtriumServer.users`. */
export class Users extends Resource {
  /**
   * List a room's users. Newest first, or in the order of `sort`. With a user's JWT, only its own room can be
   * listed, and only its own `token` is shown.
   */
  list(roomId: string, filter: UserSearch = {}): Promise<Listed<"users", wire.UserWithToken>> {
    return this.rest.get(["users"], { roomId, ...filter });
  }

  /**
   * List a room's users, page by page as they are needed. Newest first, or in the order of `sort`. With a
   * user's JWT, only its own room can be listed, and only its own `token` is shown.
   */
  each(roomId: string, filter: Filter<UserSearch> = {}): AsyncGenerator<wire.UserWithToken, void, void> {
    return eachOf("users", (part) => this.rest.get(["users"], { roomId, ...filter, ...part }));
  }

  /**
   * Create a user and its token. The token is a JWT, valid for 90 days; hand it to the client that joins the
   * room as this user. `CONFLICT`: Another user of the room has the `customId`.
   */
  create(user: input.UserInput): Promise<wire.UserWithToken> {
    return this.only("user", this.rest.post(["users"], user));
  }

  /**
   * Find users of all rooms by name. Room by room, and by name in each. A request reads the names of at most
   * 50,000 users, and those of large rooms by their index: while `cursor` is not null, a page may have fewer
   * users than `limit`, or none, and the search goes on behind it. It does not say who is online: `GET
   * /users` does, room by room.
   */
  find(
    filter: Pick<Search, "search"> & Pick<Scroll, "limit" | "after"> = {},
  ): Promise<Listed<"users", wire.FoundUser, Pick<ScrollShown, "cursor">>> {
    return this.rest.get(["organization", "users"], filter);
  }

  /**
   * Find users of all rooms by name, page by page as they are needed. Room by room, and by name in each. A
   * request reads the names of at most 50,000 users, and those of large rooms by their index: while `cursor`
   * is not null, a page may have fewer users than `limit`, or none, and the search goes on behind it. It does
   * not say who is online: `GET /users` does, room by room.
   */
  eachFound(filter: Pick<Search, "search"> = {}): AsyncGenerator<wire.FoundUser, void, void> {
    return eachOf("users", (part) => this.rest.get(["organization", "users"], { ...filter, ...part }));
  }

  /**
   * Get a user by its custom ID. The response is the same as by the user's ID. A custom ID is unique in its
   * room only.
   */
  getByCustomId(roomId: string, customId: string): Promise<UserWithSessions> {
    return this.rest.get(["users", "custom", customId], { roomId });
  }

  /** Get a user with its sessions. Says whether the user is online, and lists its sessions, newest first. */
  get(roomId: string, userId: string): Promise<UserWithSessions> {
    return this.rest.get(["users", userId], { roomId });
  }

  /**
   * Update a user. Absent fields stay as they are. Everyone in the room receives `userUpdated`. `CONFLICT`:
   * Another user of the room has the `customId`.
   */
  update(roomId: string, userId: string, changes: input.UserUpdateInput): Promise<wire.UserWithToken> {
    return this.only("user", this.rest.patch(["users", userId], changes, { roomId }));
  }

  /** Delete a user. Closes the user's sockets and ends its session. Its tokens are refused from then on. */
  delete(roomId: string, userId: string): Promise<void> {
    return this.rest.delete(["users", userId], { query: { roomId } });
  }

  /**
   * Create a short-lived token. A JWT like the user's `token`, but for `ttl` seconds and, if you like, a
   * lower role. It is not stored. Signed-in members get at most an hour.
   */
  createToken(roomId: string, userId: string, token: input.TokenInput): Promise<wire.IssuedToken> {
    return this.rest.post(["users", userId, "tokens"], token, { roomId });
  }

  /**
   * End a user's tokens. Refuses all tokens of the user so far, short-lived ones too, and closes the sockets
   * that joined with them (`authFailed`, 4401). The user's `token` is a new one from then on, valid for 90
   * days.
   */
  endTokens(roomId: string, userId: string): Promise<void> {
    return this.rest.delete(["users", userId, "tokens"], { query: { roomId } });
  }

  /**
   * Export what is kept of a user, page by page as they are needed. Page by page, until `cursor` is null. It
   * also finds what is left of a user who was deleted. Stores and the contents of documents are the room's:
   * they do not say who wrote what.
   */
  eachRecord(roomId: string, userId: string): AsyncGenerator<wire.PersonalRecord, void, void> {
    return eachOf("records", ({ after }) =>
      this.rest.get(["users", userId, "personal-data"], { roomId, after }),
    );
  }

  /**
   * Delete a user with what is kept of it. Deletes the user as `DELETE /users/:userId` does, and erases what
   * names the user: sessions, comments, mentions, reactions, resolutions of threads, files, and in the event
   * log the name, picture, custom ID, and texts. Only the ID stays, which leads to no one. Cannot be undone;
   * repeating it is harmless, and also erases what an earlier deletion of the user left.
   */
  erase(roomId: string, userId: string): Promise<void> {
    return this.rest.delete(["users", userId, "personal-data"], { query: { roomId } });
  }
}

/** The methods of `AtriumServer.webhooks`. */
export class Webhooks extends Resource {
  /** List webhooks. Newest first, or in the order of `sort`. */
  list(filter: WebhookSearch = {}): Promise<Listed<"webhooks", wire.ListedWebhook, PageShown>> {
    return this.rest.get(["webhooks"], filter);
  }

  /** Create a webhook. The response shows `secret` once; a retry with the same Idempotency-Key answers 409. */
  create(webhook: input.WebhookInput): Promise<wire.WebhookWithSecret> {
    return this.only("webhook", this.rest.post(["webhooks"], webhook));
  }

  /** Get a webhook. The response has no secret: only creating a webhook and rotating its secret return one. */
  get(webhookId: string): Promise<wire.Webhook> {
    return this.only("webhook", this.rest.get(["webhooks", webhookId]));
  }

  /**
   * Update, disable or enable a webhook. Pending deliveries go to the new URL. Disabling a webhook ends its
   * pending deliveries, a few hundred at a time. Events that happen while it is disabled are not delivered
   * later.
   */
  update(webhookId: string, changes: input.WebhookUpdateInput): Promise<wire.Webhook> {
    return this.only("webhook", this.rest.patch(["webhooks", webhookId], changes));
  }

  /** Delete a webhook and its deliveries. Events that wait for the webhook are not sent any more. */
  delete(webhookId: string): Promise<void> {
    return this.rest.delete(["webhooks", webhookId]);
  }

  /**
   * Rotate a webhook's secret. The old secret keeps signing beside the new one for 24 hours; a second
   * rotation ends that immediately. The response shows `secret` once; a retry with the same Idempotency-Key
   * answers 409.
   */
  rotateSecret(webhookId: string): Promise<wire.WebhookWithSecret> {
    return this.only("webhook", this.rest.post(["webhooks", webhookId, "rotate-secret"]));
  }

  /**
   * Send a sample event to a webhook. Sends the first of the webhook's events, about a room and a user that
   * do not exist, and responds after the first attempt, within 15 seconds. A disabled webhook receives
   * nothing.
   */
  test(webhookId: string): Promise<wire.Delivery> {
    return this.only("delivery", this.rest.post(["webhooks", webhookId, "test"]));
  }

  /**
   * List a webhook's deliveries. Newest first. Finished deliveries are kept for 7 days, up to 1 GiB of them.
   * A page of large events may end early: continue with its `cursor`.
   */
  listDeliveries(
    webhookId: string,
    filter: DeliverySearch = {},
  ): Promise<Listed<"deliveries", wire.Delivery>> {
    return this.rest.get(["webhooks", webhookId, "deliveries"], filter);
  }

  /**
   * List a webhook's deliveries, page by page as they are needed. Newest first. Finished deliveries are kept
   * for 7 days, up to 1 GiB of them. A page of large events may end early: continue with its `cursor`.
   */
  eachDelivery(
    webhookId: string,
    filter: Filter<DeliverySearch> = {},
  ): AsyncGenerator<wire.Delivery, void, void> {
    return eachOf("deliveries", (part) =>
      this.rest.get(["webhooks", webhookId, "deliveries"], { ...filter, ...part }),
    );
  }

  /**
   * Redeliver some events. Creates a new delivery of each event, with the same event id, and attempts them
   * ahead of the queue, in no particular order. For a span of events in order, or all that failed in it,
   * there is a replay.
   */
  redeliverAll(
    webhookId: string,
    ids: readonly string[],
  ): Promise<{
    readonly redelivered: number;
    readonly missing: string[];
  }> {
    return this.rest.post(["webhooks", webhookId, "redeliver"], { ids });
  }

  /**
   * Redeliver an event. Creates a new delivery of the same event, with the same event id, and attempts it
   * ahead of the queue.
   */
  redeliver(webhookId: string, deliveryId: string): Promise<wire.Delivery> {
    return this.only(
      "delivery",
      this.rest.post(["webhooks", webhookId, "deliveries", deliveryId, "redeliver"]),
    );
  }

  /**
   * Send a span of events again. Sends the events of a time again that the webhook listens to, as new
   * deliveries with the same event ids: all that the event log has, or with `status` those whose kept
   * deliveries have it. Events of a room are sent in their order, a few hundred at a time, beside what
   * happens meanwhile. Their requests have the header `Atrium-Replay`. One replay of a webhook runs at a
   * time. `CONFLICT`: The webhook is disabled, or another replay of it is running.
   */
  replay(webhookId: string, span: input.ReplayInput): Promise<wire.Replay> {
    return this.only("replay", this.rest.post(["webhooks", webhookId, "replay"], span));
  }

  /**
   * Get a webhook's latest replay. Says how many deliveries the replay has created so far, and whether it is
   * still running.
   */
  getReplay(webhookId: string): Promise<wire.Replay | null> {
    return this.only("replay", this.rest.get(["webhooks", webhookId, "replay"]));
  }

  /**
   * Get the success rate and latency of a webhook over time. Counts every attempt when it ends, retries
   * included, and says what waits now. Counts by the minute are kept for a day, by the hour for 30 days.
   */
  stats(webhookId: string, range?: "1h" | "24h" | "7d" | "30d"): Promise<wire.DeliveryStats> {
    return this.only("stats", this.rest.get(["webhooks", webhookId, "stats"], { range }));
  }
}

/** The methods of `AtriumServer.workflows`. */
export class Workflows extends written.WorkflowsBase {
  /**
   * List workflows. Newest first, or in the order of `sort`. A page with much code may end early: continue at
   * `offset` plus the number of workflows returned.
   */
  list(filter: WorkflowSearch = {}): Promise<Listed<"workflows", wire.Workflow, PageShown>> {
    return this.rest.get(["workflows"], filter);
  }

  /**
   * Create a workflow. The workflow is enabled, and runs on events from now on. Code that does not compile,
   * or whose default export is not a function, is a `VALIDATION_ERROR` with line and column.
   */
  create(workflow: input.WorkflowInput): Promise<wire.Workflow> {
    return this.only("workflow", this.rest.post(["workflows"], workflow));
  }

  /**
   * Get a workflow. The response has the current code. `disabled_reason` says why the service has disabled
   * the workflow, if it has.
   */
  get(workflowId: string): Promise<wire.Workflow> {
    return this.only("workflow", this.rest.get(["workflows", workflowId]));
  }

  /**
   * Update, disable or enable a workflow. Applies to every run that starts after the response, also for
   * events that are already pending; runs in progress finish unchanged. A disabled workflow does not run, and
   * does not catch up on the events it missed. Code that does not compile, or whose default export is not a
   * function, is a `VALIDATION_ERROR` with line and column.
   */
  update(workflowId: string, changes: input.WorkflowUpdateInput): Promise<wire.Workflow> {
    return this.only("workflow", this.rest.patch(["workflows", workflowId], changes));
  }

  /** Delete a workflow and its executions. Runs in progress finish; no new ones start. */
  delete(workflowId: string): Promise<void> {
    return this.rest.delete(["workflows", workflowId]);
  }

  /**
   * List the saved versions of a workflow's code. Newest first, without the code: the last 50 that were
   * saved, and who saved each.
   */
  listVersions(
    workflowId: string,
    page: Page = {},
  ): Promise<Listed<"versions", wire.WorkflowVersionSummary, PageShown>> {
    return this.rest.get(["workflows", workflowId, "versions"], page);
  }

  /**
   * Get a version of a workflow's code. The response has the code, and who saved it. The last 50 versions are
   * kept; an older one is `NOT_FOUND`.
   */
  getVersion(workflowId: string, version: number): Promise<wire.WorkflowVersion> {
    return this.only("version", this.rest.get(["workflows", workflowId, "versions", `${version}`]));
  }

  /**
   * Restore a version of a workflow's code. Saves its code again, as a new version: nothing is lost, and runs
   * that start after the response use it. Name, events and room stay as they are.
   */
  restoreVersion(workflowId: string, version: number): Promise<wire.Workflow> {
    return this.only(
      "workflow",
      this.rest.post(["workflows", workflowId, "versions", `${version}`, "restore"]),
    );
  }

  /**
   * List a workflow's executions. Finished runs, newest first. They are kept for 7 days, up to 1 GiB of them.
   * Without `retries`, a workflow runs at most once per event. Its first run for an event follows those for
   * earlier events of the same room. A page of large results may end early: continue with its `cursor`.
   */
  listExecutions(
    workflowId: string,
    page: Scroll = {},
  ): Promise<Listed<"executions", wire.WorkflowExecution>> {
    return this.rest.get(["workflows", workflowId, "executions"], page);
  }

  /**
   * Get an execution of a workflow. As it is now, finished or not: the execution that a request to the HTTP
   * trigger has started is found from its response on. It answers `NOT_FOUND` once it is no longer kept, and
   * for a run that did not start because the workflow was disabled.
   */
  getExecution(workflowId: string, executionId: string): Promise<wire.CurrentExecution> {
    return this.only("execution", this.rest.get(["workflows", workflowId, "executions", executionId]));
  }

  /**
   * Get the success rate and latency of a workflow over time. Counts every run when it ends, and says what
   * waits now. Counts by the minute are kept for a day, by the hour for 30 days.
   */
  stats(workflowId: string, range?: "1h" | "24h" | "7d" | "30d"): Promise<wire.DeliveryStats> {
    return this.only("stats", this.rest.get(["workflows", workflowId, "stats"], { range }));
  }

  /** List the names of a workflow's secrets. By name. No response ever contains a value. */
  listSecrets(workflowId: string): Promise<wire.WorkflowSecret[]> {
    return this.only("secrets", this.rest.get(["workflows", workflowId, "secrets"]));
  }

  /**
   * Set a secret of a workflow. Creates it, or replaces its value: every run that starts after the response
   * reads it as `env.NAME`. The name has letters, digits and underscores. The value is stored encrypted, and
   * the log and the result of a run show `***` in its place. `CONFLICT`: The workflow has 50 secrets already.
   */
  setSecret(workflowId: string, secret: string, value: string): Promise<wire.WorkflowSecret> {
    return this.only("secret", this.rest.put(["workflows", workflowId, "secrets", secret], { value }));
  }

  /**
   * Delete a secret of a workflow. Runs that start after the response do not have it. A secret that does not
   * exist is `NOT_FOUND`.
   */
  deleteSecret(workflowId: string, secret: string): Promise<void> {
    return this.rest.delete(["workflows", workflowId, "secrets", secret]);
  }

  /**
   * Start a workflow by a request. The workflow must have `httpTrigger`. It runs on `workflow.triggered`,
   * with the body as `event.data.payload`; the response does not wait for it. Send an API key, or sign the
   * request with the trigger's secret as Standard Webhooks defines it (`webhook-id`, `webhook-timestamp`,
   * `webhook-signature`; at most 5 minutes old). A message that is repeated within 24 hours under the same
   * `webhook-id`, or with the same `Idempotency-Key`, runs once and has the same execution.
   */
  trigger(
    workflowId: string,
    payload: object,
  ): Promise<{
    readonly id: string;
  }> {
    return this.only("execution", this.rest.post(["workflows", workflowId, "trigger"], payload));
  }

  /**
   * Create or rotate the secret of a workflow's HTTP trigger. An old secret is accepted beside the new one
   * for 24 hours; a second rotation ends that immediately. The response shows `trigger_secret` once; a retry
   * with the same Idempotency-Key answers 409.
   */
  rotateTriggerSecret(workflowId: string): Promise<wire.WorkflowWithSecret> {
    return this.only("workflow", this.rest.post(["workflows", workflowId, "trigger", "rotate-secret"]));
  }

  /**
   * Delete the secret of a workflow's HTTP trigger. No signature is accepted any more; requests with an API
   * key still start the workflow.
   */
  deleteTriggerSecret(workflowId: string): Promise<wire.Workflow> {
    return this.only(
      "workflow",
      this.rest.request({ method: "DELETE", path: ["workflows", workflowId, "trigger", "secret"] }),
    );
  }
}

/** The methods of `AtriumServer` itself, and its resources. */
export abstract class Operations extends Resource {
  readonly comments = new Comments(this.rest);
  readonly documents = new Documents(this.rest);
  readonly events = new Events(this.rest);
  readonly files = new Files(this.rest);
  readonly groups = new Groups(this.rest);
  readonly identities = new Identities(this.rest);
  readonly organization = new Organization(this.rest);
  readonly requests = new Requests(this.rest);
  readonly rooms = new Rooms(this.rest);
  readonly stores = new Stores(this.rest);
  readonly streams = new Streams(this.rest);
  readonly threads = new Threads(this.rest);
  readonly users = new Users(this.rest);
  readonly webhooks = new Webhooks(this.rest);
  readonly workflows = new Workflows(this.rest);

  /**
   * Identify an end user. Creates or updates the identity of your `customId`, and returns a token that opens
   * every room as far as the identity has access there. Call it when a user signs in, and again before the
   * token expires.
   */
  identifyUser(user: input.IdentificationInput): Promise<wire.Identified> {
    return this.rest.post(["identify"], user);
  }

  /**
   * Get the access to a room. The default is on each page. The pages have the entries of groups, then those
   * of identities, each ordered by ID; `total` counts both.
   */
  getRoomAccess(roomId: string, part: Scroll = {}): Promise<wire.RoomAccess & ScrollShown> {
    return this.rest.get(["rooms", roomId, "access"], part);
  }

  /**
   * Change the access to a room. Sets and removes the named entries, all or none of them, and leaves the
   * others: at most 1000 groups and identities in one request. `VALIDATION_ERROR` names a group or an
   * identity that does not exist, and `null` is fine for it. It holds at once, for those who are online as
   * well. Users without an identity are not concerned. `FORBIDDEN` above the quota of access entries.
   */
  updateRoomAccess(
    roomId: string,
    changes: input.RoomAccessInput,
  ): Promise<Partial<wire.RoomAccess> & { readonly pending_rooms: number }> {
    return this.rest.put(["rooms", roomId, "access"], changes);
  }

  /**
   * Check what an identity may do in a room. Says for each resource which entry decides. A token or a user's
   * role can give less. Reading is all or nothing: any level above `none` reads the whole room.
   */
  checkRoomAccess(roomId: string, identityId: string): Promise<wire.AccessDecision> {
    return this.rest.post(["rooms", roomId, "access", "check"], { identityId });
  }

  /** List the links of a room. Links that have not ended, newest first. Secrets are never shown again. */
  listRoomLinks(roomId: string, part: Scroll = {}): Promise<Listed<"links", wire.RoomLink>> {
    return this.rest.get(["rooms", roomId, "links"], part);
  }

  /**
   * Create a link for guests. Guests need no account of yours: with the secret they enter this room. Put it
   * into the fragment of a URL of yours, behind `#`, which browsers send to no server. Only this response
   * contains it; a retry with the same Idempotency-Key answers 409. `FORBIDDEN` above the quota of links.
   */
  createRoomLink(
    roomId: string,
    link: input.RoomLinkInput,
  ): Promise<{
    readonly link: wire.RoomLink;
    readonly secret: string;
  }> {
    return this.rest.post(["rooms", roomId, "links"], link);
  }

  /**
   * Revoke a link and end its guests. Closes the sockets of its guests (4403) before the response, refuses
   * their tokens, and deletes the guests. Their content stays in the room, with the names of their users.
   */
  revokeRoomLink(
    roomId: string,
    linkId: string,
  ): Promise<{
    readonly pending_rooms: number;
  }> {
    return this.rest.request({ method: "DELETE", path: ["rooms", roomId, "links", linkId] });
  }

  /**
   * Notify an identity. Adds an activity of a kind of your own to the identity's inbox. Its notification is
   * unread from then on, and shown at once over an open socket.
   */
  triggerInboxNotification(notification: input.InboxTriggerInput): Promise<boolean> {
    return this.only("delivered", this.rest.post(["inbox-notifications", "trigger"], notification));
  }

  /**
   * Get the defaults for unread notifications. The defaults say who sends notifications by which channel, and
   * after what time.
   */
  getNotificationDefaults(): Promise<wire.NotificationDefaults> {
    return this.only("defaults", this.rest.get(["notification-defaults"]));
  }

  /**
   * Change the defaults for unread notifications. Absent fields stay as they are, and `null` removes the
   * entry of a kind or a room. An item that waits already keeps its time.
   */
  updateNotificationDefaults(changes: input.NotificationDefaultsUpdate): Promise<wire.NotificationDefaults> {
    return this.only("defaults", this.rest.patch(["notification-defaults"], changes));
  }

  /**
   * Send a message to the users who are online in a room. The message is not stored. Its `from` is the user
   * whose token sends it, and null for the back end.
   */
  broadcast(
    roomId: string,
    event: string,
    data: unknown = null,
    userIds?: readonly string[],
  ): Promise<number> {
    return this.only("delivered", this.rest.post(["rooms", roomId, "broadcast"], { event, data, userIds }));
  }

  /**
   * Get the presence of a room's users. Only users who show something now are listed. Presence is never
   * stored, and ends when its user leaves.
   */
  getPresence(roomId: string): Promise<Record<string, wire.PresenceState>> {
    return this.only("presence", this.rest.get(["rooms", roomId, "presence"]));
  }

  /**
   * Let a user take part without a connection for a time. For agents: the user is online, everyone sees it
   * join and what it shows, and it leaves after `ttl` seconds unless this is sent again. `CONFLICT`: The user
   * has a connection of its own, or the room's presence is full.
   */
  addParticipant(
    roomId: string,
    userId: string,
    participation: { readonly presence?: object | null | undefined; readonly ttl?: number | undefined } = {},
  ): Promise<string> {
    return this.only("expires_at", this.rest.put(["rooms", roomId, "participants", userId], participation));
  }

  /**
   * Close a user's connections. The user leaves at once. Its clients do not connect again by themselves, but
   * the user may join again: end its tokens, or delete it, to keep it out.
   */
  removeParticipant(roomId: string, userId: string): Promise<void> {
    return this.rest.delete(["rooms", roomId, "participants", userId]);
  }
}
