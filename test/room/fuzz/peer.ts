/** A client's end of a socket: checks everything that it receives, and keeps its knowledge of the room. */
import { LIMITS } from "@atrium/contract/limits.ts";
import { expect } from "vitest";
import { ShownStates } from "../support/shown-states.ts";
import { Copies } from "./copies.ts";
import {
  type Answer,
  type Change,
  CLOSE_CODES,
  Joined,
  type Passing,
  parseReceived,
  requireMatch,
} from "./wire.ts";

/** The responses to the frames with one request id: those that arrived, that must arrive, and that may. */
interface Awaited {
  arrived: number;
  least: number;
  most: number;
}

/** A room's content as a client knows it: the result of all changes, by subject. */
export interface Mirror {
  readonly entries: Map<string, { readonly value: unknown; readonly version: number }>;
  readonly comments: Map<string, unknown>;
  /** Pairs of follower and followed, as JSON. */
  readonly follows: Set<string>;
}

/** Knowledge that outlives a connection of a client. */
export interface Known {
  readonly mirror: Mirror;
  readonly copies: Copies;
}

/** Empty knowledge of the client with this number. */
export const newKnown = (name: string, number: number): Known => ({
  mirror: newMirror(),
  copies: new Copies(name, 2_000_000_011 + 97 * number),
});

export const entryName = (store: string, key: string): string => JSON.stringify([store, key]);
export const followName = (follower: string, followed: string): string =>
  JSON.stringify([follower, followed]);

export class Peer {
  readonly name: string;
  /** User of the token that it joined with. */
  readonly userId: string;
  joined: Joined | null = null;
  closed: number | null = null;
  /** All changes up to this one are known. */
  seq = 0;
  /** The room could not list the missed changes. */
  wasReset = false;
  readonly onlineUsers = new Set<string>();
  readonly #shown = new ShownStates();
  readonly mirror: Mirror;
  readonly copies: Copies;
  readonly #awaited = new Map<string, Awaited>();
  /** Frames without a request id, which may have no response. */
  readonly #anonymous: Awaited = { arrived: 0, least: 0, most: 0 };
  readonly answers = new Map<string, Answer>();
  #isUnseen = false;
  /** Failures that only the server can be to blame for. */
  internalErrors = 0;
  onMark: (mark: number) => void = () => undefined;
  onEvent: (event: Change | Passing) => void = () => undefined;

  constructor(name: string, userId: string, { mirror, copies }: Known) {
    this.name = name;
    this.userId = userId;
    this.mirror = mirror;
    this.copies = copies;
  }

  /** A frame is sent that has one response or, if it is not `certain`, may have none. */
  expectAnswer(requestId: string | undefined, certain: boolean): void {
    const awaited = this.#awaitedFor(requestId);
    awaited.most += 1;
    if (certain && requestId !== undefined) awaited.least += 1;
  }

  #awaitedFor(requestId: string | undefined): Awaited {
    if (requestId === undefined) return this.#anonymous;
    const known = this.#awaited.get(requestId) ?? { arrived: 0, least: 0, most: 0 };
    this.#awaited.set(requestId, known);
    return known;
  }

  receive(frame: string | Uint8Array): void {
    expect(this.closed, `${this.name} receives after it was closed: ${frame.slice(0, 200)}`).toBeNull();
    if (typeof frame !== "string") {
      expect(this.joined, `${this.name} receives a document before it has joined`).not.toBeNull();
      this.copies.receive(frame);
      return;
    }
    for (const received of parseReceived(frame)) {
      if (received.kind === "answer") this.#receiveAnswer(received.answer);
      else if (received.kind === "change") this.#see(received.change);
      else this.#notice(received.event);
    }
  }

  #receiveAnswer(answer: Answer): void {
    const { requestId } = answer;
    if (answer.error?.code === "INTERNAL_ERROR") this.internalErrors += 1;
    if (answer.success && answer.description === "Room joined") this.#join(requireMatch(Joined, answer.data));
    if (requestId !== undefined) this.answers.set(requestId, answer);
    const awaited = this.#awaitedFor(requestId);
    awaited.arrived += 1;
    expect(awaited.arrived, `${this.name}'s responses to ${requestId}`).toBeLessThanOrEqual(awaited.most);
  }

  #join(joined: Joined): void {
    expect(this.joined, `${this.name} joins twice`).toBeNull();
    this.joined = joined;
    this.onlineUsers.clear();
    for (const { id } of joined.users) this.onlineUsers.add(id);
    expect(this.onlineUsers).toContain(joined.user.id);
    if (joined.reset === true) {
      this.wasReset = true;
      this.mirror.entries.clear();
      this.mirror.comments.clear();
      this.mirror.follows.clear();
      this.seq = 0; // the start of another history
    }
    for (const change of joined.changes ?? []) {
      expect(change.seq, `${this.name} catches up`).toBeGreaterThan(this.seq);
      this.seq = change.seq;
      this.#apply(change);
    }
    expect(this.seq).toBeLessThanOrEqual(joined.seq);
    this.seq = joined.seq;
  }

  #see(change: Change): void {
    expect(this.joined, `${this.name} sees a change before it has joined`).not.toBeNull();
    expect(change.seq, `the change that ${this.name} receives after ${this.seq}`).toBe(this.seq + 1);
    this.seq = change.seq;
    this.#apply(change);
    this.onEvent(change);
  }

  #apply({ event, data }: Change): void {
    const { entries, comments, follows } = this.mirror;
    if (event === "storeChanged") {
      const name = entryName(data.store, data.key);
      if (data.action === "delete") entries.delete(name);
      else entries.set(name, { value: data.value, version: data.version });
    } else if (event === "commentCreated" || event === "commentUpdated") {
      comments.set(data.comment.id, data.comment);
    } else if (event === "commentDeleted") {
      comments.delete(data.comment.id);
    } else if (event === "userFollowed") {
      follows.add(followName(data.followerId, data.userId));
    } else if (event === "userUnfollowed") {
      follows.delete(followName(data.followerId, data.userId));
    } else if (event === "userDeleted") {
      for (const pair of [...follows]) if (JSON.parse(pair).includes(data.userId)) follows.delete(pair);
    }
  }

  #notice(event: Passing): void {
    if (event.event === "userJoined") {
      expect([...this.onlineUsers], `${this.name} sees a user join`).not.toContain(event.data.userId);
      this.onlineUsers.add(event.data.userId);
    } else if (event.event === "userLeft") {
      const isWhole = this.joined?.next === undefined;
      if (isWhole)
        expect([...this.onlineUsers], `${this.name} sees a user leave`).toContain(event.data.userId);
      this.onlineUsers.delete(event.data.userId);
    } else if (event.event === "presence") {
      for (const update of event.data.updates) this.#shown.show(update);
      if (event.data.updates.length === 0) this.#learnPace(event.data.every);
    } else if (event.event === "mark") {
      this.onMark(event.data.mark);
    }
    this.onEvent(event);
  }

  /** R101: what the client learns is news each time. */
  #learnPace(every: number | undefined): void {
    expect(every, `${this.name}'s pace`).toBe(this.#isUnseen ? undefined : LIMITS.unseenPresenceMs);
    this.#isUnseen = !this.#isUnseen;
  }

  get presence(): ReadonlyMap<string, unknown> {
    return this.#shown.byUser;
  }

  close(code: number): void {
    expect(CLOSE_CODES, `${this.name} is closed`).toContain(code);
    this.closed ??= code;
  }

  get isAnswered(): boolean {
    return (
      this.copies.unanswered.length === 0 &&
      [...this.#awaited.values()].every(({ arrived, least }) => arrived >= least)
    );
  }

  /** Whether this client has received everything that a newcomer was given. */
  knowsAll({ seq, users, presence }: Joined): boolean {
    const states = JSON.stringify(Object.entries(presence).sort());
    const isCurrent = this.seq === seq && this.onlineUsers.size === users.length;
    return isCurrent && JSON.stringify([...this.presence].sort()) === states;
  }

  /** Everything that was asked has been answered once. */
  checkAnswers(): void {
    expect(this.copies.unanswered, `${this.name}'s documents with updates that have no status`).toEqual([]);
    for (const [requestId, { arrived, least }] of this.#awaited)
      expect(arrived, `${this.name}'s responses to ${requestId}`).toBeGreaterThanOrEqual(least);
  }
}

export const newMirror = (): Mirror => ({ entries: new Map(), comments: new Map(), follows: new Set() });
