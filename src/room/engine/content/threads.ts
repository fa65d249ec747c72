/** The threads of a room's comments as their readers see them: who is notified, and up to where each has read. */
import { notFound } from "../../../platform/errors.ts";
import {
  type Addressees,
  DEFAULT_SETTINGS,
  type Reader,
  type SubscriptionSettings,
  type Thread,
} from "../../../wire/thread.ts";
import type { MessageOf, ThreadPage } from "../../protocol/messages.ts";
import { NO_STATE, type StoredThread, type ThreadState } from "../../storage/sqlite-threads.ts";
import type { RoomStorage } from "../../storage/storage.ts";
import type { RoomPorts } from "../../transport/room-ports.ts";
import type { InboxUpdate, Recipients } from "../../types/inbox-updates.ts";
import type { Changes } from "./changes.ts";

/** Begins the subjects of groups that were mentioned in a thread: its members learn of its end. */
const GROUP = "group:";

const isGroup = ({ subject }: Pick<Reader, "subject">): boolean => subject.startsWith(GROUP);

type SettingsChange = {
  readonly [Name in keyof SubscriptionSettings]?: SubscriptionSettings[Name] | undefined;
};

/** The mentioned who are notified. */
export type Mentioned = Pick<Addressees, "readers" | "groups">;

interface NewComment extends Mentioned {
  readonly id: string;
  readonly threadId: string;
  /** Of the change that wrote it. */
  readonly seq: number;
  readonly author: Reader;
}

/** An edit that mentions further people, by the author `userId`. */
interface NewMentions extends Omit<NewComment, "author"> {
  readonly userId: string;
  /** Of the change that wrote the comment. */
  readonly commentSeq: number;
}

type ReaderState = Reader & ThreadState;

type ThreadPorts = Pick<RoomPorts, "storage" | "now" | "newId" | "roomId">;

export interface ThreadsListed {
  readonly threads: readonly Thread[];
  readonly total: number;
  /** The place behind which the next page begins; null on the last one. */
  readonly next: NonNullable<ThreadPage["after"]> | null;
}

const isSubscribed = (
  { subscribed, participates }: Pick<ThreadState, "subscribed" | "participates">,
  threads: SubscriptionSettings["threads"],
): boolean => subscribed ?? (threads === "all" || (threads === "replies_and_mentions" && participates));

export class Threads {
  readonly #ports: ThreadPorts;
  readonly #changes: Pick<Changes, "lastSeq">;
  readonly #table: RoomStorage["threads"];
  readonly #updates: RoomStorage["inboxUpdates"];

  constructor(ports: ThreadPorts, changes: Pick<Changes, "lastSeq">) {
    this.#ports = ports;
    this.#changes = changes;
    this.#table = ports.storage.threads;
    this.#updates = ports.storage.inboxUpdates;
  }

  /** The thread, with the fields of a reader unless that is null. NOT_FOUND without it. */
  get(id: string, reader: Reader | null): Thread {
    return this.#present(this.#find(id, reader?.subject ?? ""), reader);
  }

  /** The latest activity first. The filters `unread` and `subscribed` need a reader. */
  list(
    { resolved, unread, subscribed, after, limit, offset }: ThreadPage,
    reader: Reader | null,
  ): ThreadsListed {
    const subject = reader?.subject ?? "";
    const filter = {
      resolved: resolved ?? null,
      ...(reader === null
        ? { unread: null, subscribed: null }
        : { unread: unread ?? null, subscribed: subscribed ?? null }),
    };
    const before = after === undefined ? null : { lastSeq: after.last_seq, id: after.id };
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
    return this.#table
      .listStates(id)
      .filter((state) => state.participates && !isGroup(state))
      .map(({ subject, userId }) => ({ subject, userId }));
  }

  subscribe(id: string, reader: Reader, subscribed: boolean): Thread {
    const { state } = this.#find(id, reader.subject);
    this.#table.writeState(id, reader, { ...state, subscribed });
    return this.get(id, reader);
  }

  /**
   * The reader has read the comments up to a seq; all without one. An earlier seq changes nothing. At the end of the
   * thread, the mentions that edits have added are read as well.
   */
  read(id: string, reader: Reader, seq = Number.MAX_SAFE_INTEGER): Thread {
    const { state, lastSeq } = this.#find(id, reader.subject);
    const readSeq = Math.min(seq, lastSeq);
    if (readSeq > state.readSeq) {
      this.#table.writeState(id, reader, { ...state, readSeq });
      const position = readSeq === lastSeq ? this.#changes.lastSeq : readSeq;
      this.#notify({ type: "read", threadId: id, subject: reader.subject, seq: position });
    }
    return this.get(id, reader);
  }

  /** Returns the settings after the changes, if there are any. */
  updateSettings(reader: Reader, { threads, textMentions }: SettingsChange): SubscriptionSettings {
    const before = this.#table.readSettings(reader.subject);
    const settings = {
      threads: threads ?? before.threads,
      textMentions: textMentions ?? before.textMentions,
    };
    if (threads !== undefined || textMentions !== undefined) this.#table.writeSettings(reader, settings);
    return settings;
  }

  /** Makes the author and the mentioned participants, and notifies readers. Belongs into the transaction of the comment. */
  commented(comment: NewComment): void {
    const { threadId, seq, author } = comment;
    const before = this.#find(threadId, author.subject).state;
    this.#table.writeState(threadId, author, { ...before, participates: true, readSeq: seq });
    if (before.unread > 1) this.#notify({ type: "read", threadId, subject: author.subject, seq });
    const known = this.#involve(comment);
    const to = this.#subscribers(known).filter(({ subject }) => subject !== author.subject);
    this.#notifyOf(comment, known, to);
  }

  /** Readers who are notified have the comment unread, and the comments after it. Belongs into the transaction of the edit. */
  mentioned(edit: NewMentions): void {
    const { threadId, userId, commentSeq, readers, groups } = edit;
    if (readers.length + groups.length === 0) return;
    const known = this.#involve(edit);
    const author = [...known.values()].find((state) => state.userId === userId)?.subject ?? userId;
    const mentioned = new Set(readers.map(({ subject }) => subject));
    const to = this.#subscribers(known).filter(
      (each) => mentioned.has(each.subject) && each.subject !== author,
    );
    for (const state of to.filter(({ readSeq }) => readSeq >= commentSeq))
      this.#table.writeState(threadId, state, { ...state, readSeq: Math.max(0, commentSeq - 1) });
    this.#notifyOf({ ...edit, author: { subject: author, userId } }, known, to);
  }

  /** Makes the mentioned participants. Returns the states of all, by subject. */
  #involve({ threadId, readers, groups }: Mentioned & Pick<NewComment, "threadId">) {
    const mentionedGroups = groups.map((group) => ({ subject: `${GROUP}${group}`, userId: null }));
    const known = new Map(this.#table.listStates(threadId).map((state) => [state.subject, state]));
    for (const reader of [...readers, ...mentionedGroups]) {
      const state = { ...(known.get(reader.subject) ?? NO_STATE), participates: true };
      this.#table.writeState(threadId, reader, state);
      known.set(reader.subject, { ...state, ...reader });
    }
    return known;
  }

  /** Everyone who is notified has a state from then on, so that deletions reach them. */
  #notifyOf(
    { id, threadId, seq, author, groups }: NewComment,
    known: ReadonlyMap<string, ReaderState>,
    readers: readonly ReaderState[],
  ): void {
    const to = readers.map(({ subject }) => subject);
    if (to.length === 0 && groups.length === 0) return;
    for (const reader of readers.filter(({ subject }) => !known.has(subject)))
      this.#table.writeState(threadId, reader, reader);
    const unsubscribed = [...known.values()].filter(({ subscribed }) => subscribed === false);
    const except = [
      author.subject,
      ...unsubscribed.map(({ subject }) => subject),
      ...this.#table.readersWith("none").map(({ subject }) => subject),
    ];
    const comment = { threadId, commentId: id, seq, at: this.#ports.now(), by: author.subject };
    this.#notify({ type: "comment", ...comment, to, groups, except: groups.length === 0 ? [] : except });
  }

  #subscribers(known: ReadonlyMap<string, ReaderState>): ReaderState[] {
    const settings = new Map<string, SubscriptionSettings["threads"]>();
    for (const { subject } of this.#table.readersWith("none")) settings.set(subject, "none");
    const all = this.#table.readersWith("all");
    for (const { subject } of all) settings.set(subject, "all");
    const others = all.filter(({ subject }) => !known.has(subject));
    return [...known.values(), ...others.map((reader) => ({ ...NO_STATE, ...reader }))].filter(
      (state) =>
        !isGroup(state) && isSubscribed(state, settings.get(state.subject) ?? DEFAULT_SETTINGS.threads),
    );
  }

  /** Notifies a reader of a mention in a document, once per ID, unless that is the own one or the reader wants none. */
  mentionInText(
    { mentionId, document }: MessageOf<"TEXT_MENTION_CREATE">["data"],
    subject: string,
    by: string | null,
  ): void {
    if (subject === by || this.#table.readSettings(subject).textMentions === "none") return;
    this.#notify({ type: "textMention", mentionId, document, subject, at: this.#ports.now(), by });
  }

  /** A mention was taken out of a document: the reader's inbox forgets it. */
  unmentionInText(mentionId: string, subject: string): void {
    this.#notify({ type: "textMentionDeleted", mentionId, subject });
  }

  /** The thread's last comment is about to be deleted: its readers' inboxes forget it. */
  ending(threadId: string): void {
    this.#notify({ type: "threadDeleted", threadId, ...this.#everyone(threadId) });
  }

  /** Comments of a thread with others are deleted: inboxes forget them. Null stands for all of its groups. */
  uncommented(threadId: string, commentIds: readonly string[], groups: readonly string[] | null): void {
    const all = this.#everyone(threadId);
    this.#notify({ type: "commentsDeleted", threadId, commentIds, ...all, groups: groups ?? all.groups });
  }

  /** Everyone who may have been notified of a thread. */
  #everyone(threadId: string): Recipients {
    const states = this.#table.listStates(threadId);
    const to = states.filter((state) => !isGroup(state)).map(({ subject }) => subject);
    return {
      to,
      groups: states.filter(isGroup).map(({ subject }) => subject.slice(GROUP.length)),
      except: [],
    };
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
    { id, createdAt, updatedAt, comments, lastSeq, resolved, resolvedAt, resolvedBy, state }: StoredThread,
    reader: Reader | null,
  ): Thread {
    const thread = {
      id,
      room_id: this.#ports.roomId(),
      resolved,
      ...(resolvedAt !== null && { resolved_at: resolvedAt, resolved_by: resolvedBy }),
      comment_count: comments,
      last_seq: lastSeq,
      created_at: createdAt,
      updated_at: updatedAt,
    };
    if (reader === null) return thread;
    const { threads } = this.#table.readSettings(reader.subject);
    return {
      ...thread,
      subscribed: isSubscribed(state, threads),
      read_seq: state.readSeq,
      unread_count: state.unread,
    };
  }
}
