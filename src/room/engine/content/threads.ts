/** Threads of a room's comments as their readers see them: subscriptions and read positions. */
import { notFound } from "@atrium/contract/errors.ts";
import type { InputOf, OutputOf } from "@atrium/contract/operations/room.ts";
import type { ThreadPage } from "@atrium/contract/operations/threads.ts";
import type {
  Author,
  Mentioned,
  Reader,
  SubscriptionSettings,
  Thread,
} from "@atrium/contract/resources/thread.ts";
import type { StoredThread, ThreadState } from "../../storage/sqlite-threads.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import type { InboxUpdate, Recipients } from "../../types/inbox-updates.ts";
import type { Changes } from "./changes.ts";
import { NotificationQuota } from "./notification-quota.ts";

/** Recipients that an update names; further ones are read a thousand at a time when it is passed on. */
const NAMED_RECIPIENTS = 250;
/** Deleted comments that an update names. */
const NAMED_COMMENTS = 250;

/** A user without an identity has no inbox. */
const hasInbox = ({ subject, userId }: Reader): boolean => subject !== userId;

interface NewComment extends Mentioned {
  readonly id: string;
  readonly threadId: string;
  /** Seq of the change that wrote the comment. */
  readonly seq: number;
  readonly author: Author;
}

type AuthorState = Pick<StoredThread["state"], "readSeq" | "unreadCount">;

/** An edit that mentions further people, by the author `userId`. */
interface NewMentions extends Omit<NewComment, "author"> {
  readonly userId: string;
  /** Seq of the change that wrote the comment. */
  readonly commentSeq: number;
}

type ThreadPorts = Pick<RoomPorts, "storage" | "now" | "newId" | "roomId" | "limits">;

const isSubscribed = (
  { subscribed, participates }: Pick<ThreadState, "subscribed" | "participates">,
  threads: SubscriptionSettings["threads"],
): boolean => subscribed ?? (threads === "all" || (threads === "replies_and_mentions" && participates));

export class RoomThreads {
  readonly #ports: ThreadPorts;
  readonly #changes: Pick<Changes, "lastSeq">;
  readonly #table: RoomStorage["threads"];
  readonly #updates: RoomStorage["inboxUpdates"];
  readonly #quota: NotificationQuota;

  constructor(ports: ThreadPorts, changes: Pick<Changes, "lastSeq">) {
    this.#ports = ports;
    this.#changes = changes;
    this.#table = ports.storage.threads;
    this.#updates = ports.storage.inboxUpdates;
    this.#quota = new NotificationQuota(ports);
  }

  /** The state of someone who is about to write in the thread; null starts one. NOT_FOUND without it. */
  stateOf(id: string | undefined, { subject }: Author): AuthorState {
    return id === undefined ? { readSeq: 0, unreadCount: 0 } : this.#find(id, subject).state;
  }

  /** The thread, with the fields of a reader unless that is null. NOT_FOUND without it. */
  get(id: string, reader: Reader | null): Thread {
    return this.#present(this.#find(id, reader?.subject ?? ""), reader);
  }

  /** The latest activity first. The filters `unread` and `subscribed` need a reader. */
  list(
    { after, limit, offset, ...filters }: ThreadPage,
    reader: Reader | null,
  ): Pick<OutputOf<"THREAD_LIST">, "threads" | "total" | "next"> {
    const subject = reader?.subject ?? "";
    const filter = reader === null ? { resolved: filters.resolved } : filters;
    const before = after === undefined ? null : after.last_seq;
    const found = this.#table.list(filter, subject, { before, limit: limit + 1, offset });
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    return {
      threads: shown.map((thread) => this.#present(thread, reader)),
      total: this.#table.count(filter, subject),
      next: found.length > limit && last !== undefined ? { last_seq: last.lastSeq, id: last.id } : null,
    };
  }

  /** The authors of the thread, and the users and identities that are mentioned there. */
  participants(id: string): Reader[] {
    this.#find(id, "");
    return this.#table.participants(id);
  }

  subscribe(id: string, reader: Reader, subscribed: boolean): Thread {
    const { state } = this.#find(id, reader.subject);
    this.#table.writeState(id, reader, { ...state, subscribed });
    return this.get(id, reader);
  }

  /**
   * Marks the comments up to a seq as read; all of them without one. An earlier seq changes nothing. At the end
   * of the thread, mentions added by edits are read as well.
   */
  read(id: string, reader: Reader, seq = Number.MAX_SAFE_INTEGER): Thread {
    const { state, lastSeq } = this.#find(id, reader.subject);
    const isEnd = seq >= lastSeq;
    const readSeq = isEnd ? Math.max(lastSeq, this.#table.mentionedSeq(id)) : seq;
    if (readSeq > state.readSeq) {
      this.#table.writeState(id, reader, { ...state, readSeq });
      this.#notifyRead(id, reader, isEnd ? this.#changes.lastSeq : readSeq);
    }
    return this.get(id, reader);
  }

  #notifyRead(threadId: string, reader: Reader, seq: number): void {
    if (hasInbox(reader)) this.#notify({ type: "read", threadId, subject: reader.subject, seq });
  }

  /** Returns the settings after the changes, if there are any. */
  updateSettings(
    reader: Reader,
    { threads, textMentions }: InputOf<"SUBSCRIPTION_SETTINGS">,
  ): SubscriptionSettings {
    const before = this.#table.readSettings(reader.subject);
    const settings = {
      threads: threads ?? before.threads,
      textMentions: textMentions ?? before.textMentions,
    };
    if (threads !== undefined || textMentions !== undefined) this.#table.writeSettings(reader, settings);
    return settings;
  }

  /**
   * Makes the mentioned participants, and notifies readers; `before` is the author's state without the comment. Belongs
   * into the transaction of the comment.
   */
  commented(comment: NewComment, before: AuthorState): void {
    const { threadId, seq, author, readers } = comment;
    this.#quota.spend(author, comment);
    if (before.unreadCount > 0 || before.readSeq < this.#table.mentionedSeq(threadId))
      this.#notifyRead(threadId, author, seq);
    this.#involve(threadId, readers);
    const found = this.#table.subscribers(threadId, "", NAMED_RECIPIENTS + 1);
    const named = found.slice(0, NAMED_RECIPIENTS);
    this.#notifyOf(comment, named, found.length > named.length ? named.at(-1) : undefined);
  }

  /**
   * Readers who are notified have the comment unread, and the comments after it. `by` is null for the organization, which
   * has no quota. Belongs into the transaction of the edit.
   */
  mentioned(edit: NewMentions, by: string | null): void {
    const { threadId, seq, userId, commentSeq, readers, groups } = edit;
    if (readers.length + groups.length === 0) return;
    this.#involve(threadId, readers);
    const author = { subject: this.#table.subjectOf(threadId, userId) ?? userId, userId };
    if (by !== null) this.#quota.spend(author, edit);
    const notified = readers.filter(
      ({ subject }) => subject !== author.subject && this.#isSubscribed(threadId, subject),
    );
    for (const reader of notified) {
      const state = this.#table.readState(threadId, reader.subject);
      if (state.readSeq >= commentSeq)
        this.#table.writeState(threadId, reader, { ...state, readSeq: Math.max(0, commentSeq - 1) });
    }
    const to = notified.filter(hasInbox).map(({ subject }) => subject);
    if (to.length + groups.length > 0) this.#table.expectNotified(threadId, seq);
    this.#notifyOf({ ...edit, author }, to);
  }

  #isSubscribed(threadId: string, subject: string): boolean {
    return isSubscribed(this.#table.readState(threadId, subject), this.#table.readSettings(subject).threads);
  }

  /** Makes the mentioned participants. */
  #involve(threadId: string, readers: readonly Reader[]): void {
    for (const reader of readers) {
      const state = this.#table.readState(threadId, reader.subject);
      this.#table.writeState(threadId, reader, { ...state, participates: true });
    }
  }

  /** `after` is the last of `subjects` if the thread has further subscribers. */
  #notifyOf(
    { id, threadId, seq, author, readers, groups }: NewComment,
    subjects: readonly string[],
    after?: string,
  ): void {
    const to = subjects.filter((subject) => subject !== author.subject);
    if (to.length === 0 && groups.length === 0 && after === undefined) return;
    this.#table.expectNotified(threadId);
    const comment = { threadId, commentId: id, seq, at: this.#ports.now() };
    const by = { by: author.subject, byUser: author.userId };
    const recipients = { to, groups, except: [author.subject] };
    const mentioned = readers.filter(hasInbox).map(({ subject }) => subject);
    this.#notify({
      type: "comment",
      ...comment,
      ...by,
      ...recipients,
      ...(mentioned.length > 0 && { mentioned }),
      ...(after !== undefined && { after }),
    });
  }

  /**
   * Notifies the mentioned reader of a mention in a document, once per ID, unless that is the own one or the reader wants
   * none. `by` is null for the organization.
   */
  mentionInText(
    { mentionId, document }: InputOf<"TEXT_MENTION_CREATE">,
    mentioned: Mentioned,
    author: Author | null,
  ): void {
    const [reader] = mentioned.readers;
    if (reader === undefined || reader.subject === author?.subject || !hasInbox(reader)) return;
    const { subject } = reader;
    if (this.#table.readSettings(subject).textMentions === "none") return;
    if (author !== null) this.#quota.spend(author, mentioned);
    const by = { by: author?.subject ?? null, byUser: author?.userId ?? null };
    this.#notify({ type: "textMention", mentionId, document, subject, at: this.#ports.now(), ...by });
  }

  /** A mention was taken out of a document: the reader's inbox forgets it. */
  unmentionInText(mentionId: string, reader: Reader): void {
    if (hasInbox(reader)) this.#notify({ type: "textMentionDeleted", mentionId, subject: reader.subject });
  }

  /** The thread's last comment is about to be deleted: inboxes forget it. */
  ending(threadId: string): void {
    const everyone = this.#everyone(threadId);
    if (everyone !== null) this.#notify({ type: "threadDeleted", threadId, ...everyone });
  }

  /** Comments of a thread with others are deleted: inboxes forget them. */
  uncommented(threadId: string, ids: readonly string[]): void {
    const everyone = this.#everyone(threadId);
    if (everyone === null) return;
    for (let at = 0; at < ids.length; at += NAMED_COMMENTS) {
      const commentIds = ids.slice(at, at + NAMED_COMMENTS);
      this.#notify({ type: "commentsDeleted", threadId, commentIds, ...everyone });
    }
  }

  /** The shards that are known by now. Null if no inbox knows the thread, nor will by an update on its way. */
  #everyone(threadId: string): Recipients | null {
    const to = this.#table.shardsOf(threadId);
    return to && { to, groups: [], except: [] };
  }

  #notify(update: InboxUpdate): void {
    this.#updates.append(this.#ports.newId(), JSON.stringify(update));
  }

  #find(id: string, subject: string): StoredThread {
    const thread = this.#table.find(id, subject);
    if (thread === null) throw notFound("Rooms", "Thread");
    return thread;
  }

  #present(
    {
      id,
      createdAt,
      updatedAt,
      commentCount,
      lastSeq,
      resolved,
      resolvedAt,
      resolvedBy,
      state,
    }: StoredThread,
    reader: Reader | null,
  ): Thread {
    const thread = {
      id,
      room_id: this.#ports.roomId(),
      resolved,
      ...(resolvedAt !== null && { resolved_at: resolvedAt, resolved_by: resolvedBy }),
      comment_count: commentCount,
      last_seq: lastSeq,
      created_at: createdAt,
      updated_at: updatedAt,
    };
    if (reader === null) return thread;
    const { threads } = this.#table.readSettings(reader.subject);
    return {
      ...thread,
      subscribed: isSubscribed(state, threads),
      read_seq: Math.min(state.readSeq, lastSeq),
      unread_count: state.unreadCount,
    };
  }
}
