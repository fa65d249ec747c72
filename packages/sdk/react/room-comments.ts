/** The one copy of a room's comments and threads that components read: changes are applied to it as they arrive. */
import type { ThreadFilter } from "@atrium/contract/operations/threads.ts";
import type { Connection } from "../client/connection/connection.ts";
import { type Data, isComment, isCount, listOf } from "../client/connection/frames.ts";
import type { Comment, SubscriptionSettings, Thread, ThreadPage, ThreadPlace } from "../client/index.ts";
import { inspectionOf } from "../client/inspected.ts";
import { getOrAdd } from "../core/emitter.ts";
import { assumeType } from "../core/json.ts";
import { shallowEqual } from "./external-source.ts";
import { Loaded } from "./loaded.ts";
import { type AnyClient, isNotFound } from "./shared-connection.ts";

export interface ThreadList {
  /** The latest comment first. */
  readonly threads: readonly Thread[];
  /** The number of matching threads, loaded or not. */
  readonly total: number;
}

/** A list whose threads before a place are all known, if they match its filter. */
interface OpenList {
  readonly part: Loaded<ThreadList>;
  readonly filter: ThreadFilter;
  /** The most threads that are shown. */
  wanted: number;
  /** The place of the last thread that was loaded; null if no further ones match, undefined before the first load. */
  end: ThreadPlace | null | undefined;
  /** The number of threads that the service has. */
  total: number;
  /** Whether a thread may have begun or ended to match that is not known. */
  isUncertain: boolean;
}

/** An own change that is shown before it is answered. */
interface Expected {
  readonly threadId: string;
  readonly change: (thread: Thread) => Thread;
}

type Ask = <Answer>(type: string, data: object, read: (data: Data) => Answer) => Promise<Answer>;

const PAGE = 50;
const READ_AT_ONCE = 100;
/** Limit of threads that are read one by one. Above it, everything in use is loaded again. */
const MAX_OUTDATED = 100;

const matches = ({ resolved, unread, subscribed }: ThreadFilter, thread: Thread): boolean =>
  (resolved === undefined || thread.resolved === resolved) &&
  (unread === undefined || Number(thread.unread_count) > 0 === unread) &&
  (subscribed === undefined || thread.subscribed === subscribed);

/** The order of lists: the latest comment first. */
const order = (a: ThreadPlace, b: ThreadPlace): number =>
  b.last_seq - a.last_seq || Number(b.id > a.id) - Number(b.id < a.id);

/** The thread after it is read up to a `seq`; the unread rest is known only at its end. */
const asRead = (thread: Thread, seq: number): Thread =>
  seq < thread.last_seq ? thread : { ...thread, read_seq: thread.last_seq, unread_count: 0 };

const withResolution = (thread: Thread, { resolved, resolved_at, resolved_by = null }: Comment): Thread => ({
  ...thread,
  resolved,
  ...(resolved_at !== undefined && { resolved_at, resolved_by }),
});

class ThreadCache {
  /** Threads of the service by ID; null for a thread that does not exist. A new map once changes were missed. */
  #known = new Map<string, Thread | null>();
  /** Known threads whose latest change does not tell how they are now. */
  readonly #outdated = new Set<string>();
  /** Threads of which one may have read more than their comments show, such as a deleted comment. */
  readonly #shrunk = new Set<string>();
  readonly #expected = new Set<Expected>();
  /** Lists by their filters as JSON. */
  readonly #lists = new Map<string, OpenList>();
  readonly #parts = new Map<string, Loaded<Thread | null>>();
  readonly #readings = new Map<string, Promise<void>>();
  readonly #client: AnyClient;
  readonly #connection: Connection;
  readonly #ask: Ask;
  #settings: SubscriptionSettings | null = null;

  constructor(client: AnyClient, connection: Connection, ask: Ask) {
    this.#client = client;
    this.#connection = connection;
    this.#ask = ask;
    client.comments.on("thread", (thread) => {
      this.#outdated.delete(thread.id);
      if (!this.#known.has(thread.id)) this.#doubt();
      this.#put(thread);
      this.#refresh(thread.id);
    });
    client.comments.on("settings", (settings) => {
      const before = this.#settings;
      this.#settings = settings;
      if (before?.threads !== settings.threads) this.forget();
    });
  }

  list(filter: ThreadFilter): OpenList {
    return getOrAdd(this.#lists, JSON.stringify(filter), () => {
      const list: OpenList = {
        part: new Loaded<ThreadList>({
          initial: { threads: [], total: 0 },
          isKnown: () => list.end !== undefined,
          isLoaded: () => this.#outdated.size === 0 && !this.#lacks(list),
          select: (shown) => (list.end === undefined ? shown : this.#select(list, shown.threads)),
          canLoad: () => this.#connection.requests.isConnected,
          load: () => this.#load(list),
          client: this.#client,
        }),
        filter,
        wanted: PAGE,
        end: undefined,
        total: 0,
        isUncertain: false,
      };
      return list;
    });
  }

  /** A thread; null once it is known not to exist. */
  thread(id: string): Loaded<Thread | null> {
    return getOrAdd(
      this.#parts,
      id,
      () =>
        new Loaded<Thread | null>({
          initial: null,
          isKnown: () => this.#known.has(id),
          isLoaded: () => this.#known.has(id) && !this.#outdated.has(id),
          select: (shown) => (this.#known.has(id) ? this.#shown(id) : shown),
          canLoad: () => this.#connection.requests.isConnected,
          load: () => this.#read(id),
          client: this.#client,
        }),
    );
  }

  loadMore(list: OpenList): void {
    list.wanted += PAGE;
    list.part.update();
    list.part.start();
  }

  /** Up to a `seq`, or to the end as it is shown now. */
  markAsRead(threadId: string, seq?: number): Promise<Thread> {
    const end = seq ?? this.#shown(threadId)?.last_seq ?? 0;
    const answer = this.#client.comments.markAsRead({ threadId, seq });
    return this.expect(threadId, (thread) => asRead(thread, end), answer);
  }

  /** Shows an own change of a thread until it is answered. */
  async expect<Answer>(
    threadId: string,
    change: Expected["change"],
    answer: Promise<Answer>,
  ): Promise<Answer> {
    const expected = { threadId, change };
    this.#expected.add(expected);
    this.#refresh(threadId);
    try {
      return await answer;
    } finally {
      this.#expected.delete(expected);
      this.#refresh(threadId);
    }
  }

  commented(comment: Comment): void {
    const isFirst = comment.id === comment.thread_id;
    const after = isFirst ? this.#begun(comment) : this.#continued(comment);
    this.#apply(comment, after, isFirst);
  }

  /** `earlier` is the comment before, if it is known; `hasFirst` whether the thread's first comment is known to exist. */
  updated(comment: Comment, earlier: Comment | undefined, hasFirst: boolean): void {
    const { id, thread_id: threadId, mentions, mentioned = [] } = comment;
    if (mentions.length + mentioned.length > 0) this.#shrunk.add(threadId);
    const before = this.#known.get(threadId);
    const after = before && withResolution(before, comment);
    const isSame = after && ((id !== threadId && hasFirst) || shallowEqual(before, after));
    const isCertain = !this.#mayMention(comment, earlier) && (isSame || id === threadId);
    if (!isCertain || !isSame) this.#apply(comment, isCertain ? after : null);
  }

  deleted(comment: Comment): void {
    const { thread_id: threadId } = comment;
    this.#shrunk.add(threadId);
    const isLast = this.#known.get(threadId)?.comment_count === 1 && !this.#outdated.has(threadId);
    if (isLast) this.#remove(threadId);
    else this.#apply(comment, null, true);
  }

  /** Loads the content in use again, which is shown as it was until then. */
  forget(): void {
    this.#known = new Map();
    this.#outdated.clear();
    this.#readings.clear();
    for (const list of this.#lists.values()) list.end = undefined;
    for (const part of this.#all()) part.start();
  }

  /** The user's positions and subscriptions may have changed on another device. */
  joined(): void {
    this.#settings = null;
    this.forget();
  }

  *#all(): Generator<Loaded<unknown>> {
    for (const { part } of this.#lists.values()) yield part;
    yield* this.#parts.values();
  }

  #isInUse(threadId: string): boolean {
    return this.#parts.has(threadId) || [...this.#lists.values()].some(({ end }) => end !== undefined);
  }

  /** The thread that a comment starts; null if only the service knows it. */
  #begun(first: Comment): Thread | null {
    const { seq } = this.#connection.changeStream;
    const { id, room_id, user_id, created_at } = first;
    const isMine = user_id === this.#client.userId;
    const subscribed = this.#subscribesTo(first, isMine);
    if (seq === undefined || subscribed === null) return null;
    return {
      id,
      room_id,
      resolved: false,
      comment_count: 1,
      last_seq: seq,
      created_at,
      updated_at: created_at,
      subscribed,
      read_seq: isMine ? seq : 0,
      unread_count: Number(!isMine),
    };
  }

  /** The thread after a reply; null if only the service knows it. */
  #continued(reply: Comment): Thread | null {
    const { thread_id: threadId, user_id, created_at } = reply;
    const { seq } = this.#connection.changeStream;
    const before = this.#known.get(threadId);
    if (seq === undefined || !before || this.#outdated.has(threadId)) return null;
    const isMine = user_id === this.#client.userId;
    const mayTakePart = !before.subscribed && (isMine || this.#mayMention(reply));
    const mayHaveReadMore = !isMine && before.unread_count === 0 && this.#shrunk.has(threadId);
    if (mayTakePart || mayHaveReadMore) return null;
    const own = isMine
      ? { read_seq: seq, unread_count: 0 }
      : { unread_count: Number(before.unread_count) + 1 };
    const comment_count = before.comment_count + 1;
    return { ...before, comment_count, last_seq: seq, updated_at: created_at, ...own };
  }

  /** Whether the comment mentions someone, whom it has not mentioned before, who may be this user. */
  #mayMention({ mentions, mentioned = [] }: Comment, earlier?: Comment): boolean {
    const { userId } = this.#client;
    const known = earlier?.mentioned ?? [];
    return (
      (mentions.includes(userId) && !earlier?.mentions.includes(userId)) ||
      mentioned.some(({ kind, id }) => kind === "user" && !known.some((before) => before.id === id))
    );
  }

  /** Whether this user is notified of a new thread; null if only the service knows. */
  #subscribesTo(first: Comment, isMine: boolean): boolean | null {
    const setting = this.#settings?.threads;
    if (setting !== "replies_and_mentions") return setting === undefined ? null : setting === "all";
    if (isMine || first.mentions.includes(this.#client.userId)) return true;
    return this.#mayMention(first) ? null : false;
  }

  /**
   * Shows a thread after a change, or reads it if only the service knows how it is then. `isCounted` if the change starts
   * or may end it.
   */
  #apply({ thread_id: threadId }: Comment, after: Thread | null | undefined, isCounted = false): void {
    if (!this.#isInUse(threadId)) {
      this.#known.delete(threadId);
      return;
    }
    if (after) this.#put(after, isCounted ? null : this.#known.get(threadId));
    else {
      if (!this.#known.get(threadId)) this.#doubt(isCounted);
      this.#outdated.add(threadId);
    }
    if (this.#outdated.size > MAX_OUTDATED) this.forget();
    else this.#refresh(threadId);
  }

  /** A thread has changed that was not known: how many match a filter may be another number. */
  #doubt(isCounted = false): void {
    for (const list of this.#lists.values())
      if (isCounted || Object.values(list.filter).some((wanted) => wanted !== undefined))
        list.isUncertain = true;
  }

  /** Shows changes of a thread, and loads missing ones. */
  #refresh(threadId: string): void {
    const thread = this.#parts.get(threadId);
    for (const part of [...[...this.#lists.values()].map((list) => list.part), ...(thread ? [thread] : [])]) {
      part.update();
      part.start();
    }
  }

  /** `before` is null for a new thread; of one that was not known, the numbers of those who match are right already. */
  #put(after: Thread, before: Thread | null | undefined = this.#known.get(after.id)): void {
    this.#known.set(after.id, Object.freeze(after));
    if (before !== undefined) this.#count(before, after);
  }

  #remove(threadId: string): void {
    const before = this.#known.get(threadId);
    this.#known.set(threadId, null);
    this.#outdated.delete(threadId);
    if (before) this.#count(before, null);
    this.#refresh(threadId);
  }

  #count(before: Thread | null, after: Thread | null): void {
    for (const list of this.#lists.values()) list.total += difference(list, before, after);
  }

  /** The thread with the own changes that are not answered. */
  #shown(threadId: string): Thread | null {
    let thread = this.#known.get(threadId) ?? null;
    for (const expected of this.#expected)
      if (expected.threadId === threadId) thread = thread && expected.change(thread);
    return thread;
  }

  #matching({ filter, end }: OpenList): Thread[] {
    if (end === undefined) return [];
    const found: Thread[] = [];
    for (const id of this.#known.keys()) {
      const thread = this.#shown(id);
      if (thread && matches(filter, thread) && (end === null || order(thread, end) <= 0)) found.push(thread);
    }
    return found.sort(order);
  }

  #select(list: OpenList, before: readonly Thread[]): ThreadList {
    const found = this.#matching(list);
    const shown = found.slice(0, list.wanted);
    const threads = shallowEqual(shown, before) ? before : shown;
    if (list.end === null) return { threads, total: found.length };
    const changed = new Set([...this.#expected].map(({ threadId }) => threadId));
    const expected = [...changed].map((id) => difference(list, this.#known.get(id), this.#shown(id)));
    const total = expected.reduce((sum, more) => sum + more, list.total);
    return { threads, total };
  }

  /** Whether a list shows less than it could, or does not know its total. */
  #lacks(list: OpenList): boolean {
    if (list.end === undefined) return true;
    return list.end !== null && (list.isUncertain || this.#matching(list).length < list.wanted);
  }

  async #load(list: OpenList): Promise<void> {
    await Promise.resolve(); // lets all changes of this turn arrive
    const isPage = this.#outdated.size === 0 && this.#lacks(list);
    await Promise.all([
      this.#settings ?? this.#once("settings", () => this.#readSettings()),
      ...(isPage ? [this.#readPage(list)] : [...this.#outdated].map((id) => this.#read(id))),
    ]);
  }

  async #readPage(list: OpenList): Promise<void> {
    const missing = list.wanted - this.#matching(list).length;
    const limit = Math.max(1, Math.min(READ_AT_ONCE, missing));
    const known = this.#known;
    await this.#ask("THREAD_LIST", { ...list.filter, after: list.end ?? undefined, limit }, (data) => {
      if (this.#known !== known) return;
      const { threads, total, next } = assumeType<ThreadPage>(data);
      for (const thread of threads) this.#put(thread);
      list.end = next;
      list.total = total;
      // The total may count a change of a thread that is yet to be read.
      list.isUncertain = this.#outdated.size > 0;
      for (const part of this.#all()) part.update();
    });
  }

  #readSettings(): Promise<void> {
    return this.#ask("SUBSCRIPTION_SETTINGS", {}, ({ settings }) => {
      this.#settings = assumeType(settings);
    });
  }

  #read(threadId: string): Promise<void> {
    return this.#once(threadId, () => this.#readThread(threadId));
  }

  async #readThread(threadId: string): Promise<void> {
    const known = this.#known;
    try {
      await this.#ask("THREAD_GET", { threadId }, ({ thread }) => {
        if (this.#known !== known) return;
        this.#outdated.delete(threadId);
        this.#put(assumeType(thread));
        this.#refresh(threadId);
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (this.#known !== known) return;
      this.#remove(threadId);
    }
  }

  /** Parts that need the same content at once share one reading. */
  #once(key: string, read: () => Promise<void>): Promise<void> {
    return getOrAdd(this.#readings, key, () => {
      const reading = read().finally(() => {
        if (this.#readings.get(key) === reading) this.#readings.delete(key);
      });
      return reading;
    });
  }
}

/** The number of threads of a list that match after a change, less those before. */
function difference(
  { filter }: OpenList,
  before: Thread | null | undefined,
  after: Thread | null | undefined,
): number {
  const count = (thread: Thread | null | undefined) => Number(thread ? matches(filter, thread) : false);
  return count(after) - count(before);
}

/** The comments that are known, oldest first: a thread's are found without a look at all others. */
class KnownComments {
  readonly #all = new Map<string, Comment>();
  readonly #ofThreads = new Map<string, Map<string, Comment>>();

  get(id: string): Comment | undefined {
    return this.#all.get(id);
  }

  of(threadId: string | undefined): Comment[] {
    const comments = threadId === undefined ? this.#all : this.#ofThreads.get(threadId);
    return [...(comments?.values() ?? [])];
  }

  /** A comment that is known keeps its place. */
  put(comment: Comment): void {
    this.#all.set(comment.id, comment);
    getOrAdd(this.#ofThreads, comment.thread_id, () => new Map()).set(comment.id, comment);
  }

  delete({ id, thread_id }: Comment): void {
    this.#all.delete(id);
    this.#ofThreads.get(thread_id)?.delete(id);
  }
}

export class CommentCache {
  readonly threads: ThreadCache;
  readonly #ask: Ask;
  readonly #isConnected: () => boolean;
  readonly #client: AnyClient;
  /** Another object once changes were missed. */
  #known = new KnownComments();
  /** The threads of which all comments are known; undefined for all threads. */
  readonly #complete = new Set<string | undefined>();
  readonly #parts = new Map<string | undefined, Loaded<readonly Comment[]>>();
  readonly #readings = new Map<string | undefined, Promise<void>>();

  constructor(client: AnyClient) {
    const { comments } = client;
    const { connection } = inspectionOf(client);
    const { requests, changeStream } = connection;
    this.#ask = (type, data, read) => requests.send(type, data, { read });
    this.#isConnected = () => requests.isConnected;
    this.#client = client;
    const threads = new ThreadCache(client, connection, this.#ask);
    this.threads = threads;
    comments.on("created", (comment) => {
      this.#known.put(comment);
      if (comment.id === comment.thread_id) this.#complete.add(comment.id);
      this.#update(comment);
      threads.commented(comment);
    });
    comments.on("updated", (comment) => {
      const earlier = this.#known.get(comment.id);
      if (earlier !== undefined) this.#known.put(comment);
      this.#update(comment);
      threads.updated(comment, earlier, this.#known.get(comment.thread_id) !== undefined);
    });
    comments.on("deleted", (comment) => {
      this.#known.delete(comment);
      this.#update(comment);
      threads.deleted(comment);
    });
    changeStream.onJoined(({ changes }) => {
      if (changes === null) {
        this.#known = new KnownComments();
        this.#complete.clear();
        this.#readings.clear();
      }
      for (const part of this.#parts.values()) part.start();
      threads.joined();
    });
  }

  /** The comments of a thread, or all, oldest first. */
  comments(threadId?: string): Loaded<readonly Comment[]> {
    return getOrAdd(this.#parts, threadId, () => {
      const isComplete = () => this.#complete.has(undefined) || this.#complete.has(threadId);
      return new Loaded<readonly Comment[]>({
        initial: [],
        isKnown: isComplete,
        isLoaded: isComplete,
        select: (shown) => (isComplete() ? this.#known.of(threadId) : shown),
        canLoad: this.#isConnected,
        load: () => this.#load(threadId),
        client: this.#client,
      });
    });
  }

  #update({ thread_id }: Comment): void {
    this.#parts.get(undefined)?.update();
    this.#parts.get(thread_id)?.update();
  }

  /** All comments are loaded in place of each thread's, if a component needs them. */
  async #load(threadId: string | undefined): Promise<void> {
    await Promise.resolve(); // lets all components of this turn say what they need
    const isOfAll = this.#readings.has(undefined) || this.#parts.get(undefined)?.isUsed;
    const wanted = isOfAll ? undefined : threadId;
    await getOrAdd(this.#readings, wanted, () => {
      // Pages of one thread would come between the others.
      const earlier = wanted === undefined ? [...this.#readings.values()] : [];
      const reading = Promise.allSettled(earlier)
        .then(() => this.#read(wanted))
        .finally(() => {
          if (this.#readings.get(wanted) === reading) this.#readings.delete(wanted);
        });
      return reading;
    });
  }

  async #read(threadId: string | undefined): Promise<void> {
    const known = this.#known;
    for (let after: number | null | undefined; after !== null; ) {
      const data = { threadId, limit: READ_AT_ONCE, after };
      after = await this.#ask("COMMENT_LIST", data, ({ comments, next }) => {
        if (this.#known !== known) return null;
        for (const comment of listOf(comments, isComment)) {
          known.delete(comment); // one that came meanwhile follows the others
          known.put(comment);
        }
        if (isCount(next)) return next;
        this.#complete.add(threadId);
        return null;
      });
    }
  }
}

const copies = new WeakMap<object, CommentCache>();

/** The one copy of a client's room. */
export const commentCacheOf = (client: AnyClient): CommentCache =>
  getOrAdd(copies, client, () => new CommentCache(client));
