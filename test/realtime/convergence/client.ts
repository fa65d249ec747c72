/** A client as a careful one would be: it keeps what it saw, and sends again what was not answered. */
import { expect } from "vitest";
import type {
  Change,
  JoinedRoom,
  PresenceState,
  Response,
  ServerMessage,
} from "../../../src/realtime/protocol/protocol.ts";
import { makersOf } from "./log.ts";
import type { ClientConnection } from "./environment.ts";

/** A request that its sender repeats until it is answered. */
export interface Request {
  readonly type: string;
  readonly requestId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Answered {
  readonly request: Request;
  readonly response: Response;
}

export class Client {
  readonly userId: string;
  connection: ClientConnection | null = null;
  /** All changes seen, through all connections. */
  readonly seen: Change[] = [];
  readonly pending = new Map<string, Request>();
  /** Those of the pending ones that the present wire has not carried. */
  readonly unsent = new Set<Request>();
  readonly answered = new Map<string, Answered>();
  /** What the latest join was answered. */
  joined: JoinedRoom | null = null;
  /** The presence that it wants others to see; undefined until it shows any. */
  shown: number | null | undefined;
  /** Requests that were open when it came back, and those of them that had been done: it was only not told. */
  readonly unanswered = { open: 0, done: 0 };
  /** Runs when a request was answered. */
  onAnswer: () => void = () => {};
  readonly #presence = new Map<string, PresenceState>();
  readonly #online = new Set<string>();

  constructor(userId: string) {
    this.userId = userId;
  }

  get lastSeq(): number {
    return this.seen.at(-1)?.seq ?? 0;
  }

  /** Who is online and what everybody shows, as this client knows it. */
  get view(): View {
    const shown = [...this.#presence].map(([userId, { value }]) => [userId, value] as const);
    return viewOf([...this.#online], shown);
  }

  receive(message: ServerMessage): void {
    if (message.type === "response" && isJoinedRoom(message.data)) this.#rejoin(message.data);
    else if (message.type === "response") this.#hearAnswer(message);
    else if ("seq" in message) this.#see(message);
    else if (message.event === "presence") for (const update of message.data.updates) this.#show(update);
    else if (message.event === "userJoined") this.#online.add(message.data.userId);
    else if (message.event === "userLeft") this.#online.delete(message.data.userId);
    else expect.unreachable(JSON.stringify(message));
  }

  #hearAnswer(response: Response): void {
    const { requestId = "" } = response;
    const request = this.pending.get(requestId);
    const mayFail = request?.data.ifVersion !== undefined && response.error?.code === "CONFLICT";
    expect(response.success || mayFail, JSON.stringify(response)).toBe(true);
    if (request === undefined) return; // it is about the connection itself
    this.answered.set(requestId, { request, response });
    this.pending.delete(requestId);
    this.onAnswer();
  }

  #rejoin(joined: JoinedRoom): void {
    expect(joined.reset).toBeUndefined();
    this.joined = joined;
    for (const change of joined.changes ?? []) this.#see(change);
    expect(this.lastSeq).toBe(joined.seq);
    this.#online.clear();
    for (const { id } of joined.users) this.#online.add(id);
    // What others show comes with the subscription: until that begins, nobody tells of what ends.
    this.#presence.clear();
    if (this.pending.size === 0) return;
    const done = makersOf(this.seen);
    this.unanswered.open += this.pending.size;
    this.unanswered.done += [...this.pending.keys()].filter((requestId) => done.has(requestId)).length;
  }

  #see({ seq, event, data }: Change): void {
    expect(seq, "the next change").toBe(this.lastSeq + 1);
    this.seen.push({ seq, event, data });
  }

  #show([userId, state]: readonly [string, PresenceState | null]): void {
    if (state === null) this.#presence.delete(userId);
    else this.#presence.set(userId, state);
  }
}

export interface View {
  readonly online: readonly string[];
  readonly presence: readonly (readonly [userId: string, value: unknown])[];
}

/** In one order, so that equal pictures are written alike. */
export const viewOf = (online: readonly string[], presence: View["presence"]): View => ({
  online: [...online].sort(),
  presence: [...presence].sort(([a], [b]) => (a < b ? -1 : 1)),
});

const isJoinedRoom = (data: object): data is JoinedRoom => "sessionId" in data;
