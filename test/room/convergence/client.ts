/** A careful client: it keeps everything that it has seen, and resends unanswered requests. */

import type { OnlinePlace } from "@atrium/contract/operations/presence.ts";
import { expect } from "vitest";
import type { Change, JoinedRoom, Response, ServerMessage } from "../../../src/room/protocol/protocol.ts";
import { ShownStates } from "../support/shown-states.ts";
import type { ClientConnection } from "./environment.ts";
import { makersOf } from "./log.ts";

/** A request that its sender repeats until it has a response. */
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
  /** All changes seen, over all connections. */
  readonly seen: Change[] = [];
  readonly pending = new Map<string, Request>();
  /** The pending requests that were not sent over the current connection. */
  readonly unsent = new Set<Request>();
  readonly answered = new Map<string, Answered>();
  /** The response to the latest join. */
  joined: JoinedRoom | null = null;
  /** The presence that others should see; undefined until there is any. */
  shown: number | null | undefined;
  /** Requests without a response when it reconnected, and how many of them had been carried out anyway. */
  readonly unanswered = { open: 0, done: 0 };
  /** Runs when a request has a response. */
  onAnswer: () => void = () => {};
  /** Where the users online begin that it has not read yet; null when it has all. */
  nextPage: OnlinePlace | null = null;
  readonly #presence = new ShownStates();
  readonly #online = new Set<string>();

  constructor(userId: string) {
    this.userId = userId;
  }

  get lastSeq(): number {
    return this.seen.at(-1)?.seq ?? 0;
  }

  /** Users online and everyone's presence, as this client knows them. */
  get view(): View {
    const shown = [...this.#presence.byUser].map(([userId, { value }]) => [userId, value] as const);
    return viewOf([...this.#online], shown);
  }

  receive(message: ServerMessage): void {
    if (message.type === "response" && isJoinedRoom(message.data)) this.#rejoin(message.data);
    else if (message.type === "response" && isOnlinePage(message.data)) this.#readPage(message.data);
    else if (message.type === "response") this.#receiveResponse(message);
    else if ("seq" in message) this.#see(message);
    else if (message.event === "presence")
      for (const update of message.data.updates) this.#presence.show(update);
    else if (message.event === "userJoined") this.#online.add(message.data.userId);
    else if (message.event === "userLeft") this.#online.delete(message.data.userId);
    else expect.unreachable(JSON.stringify(message));
  }

  #receiveResponse(response: Response): void {
    const { requestId = "" } = response;
    const request = this.pending.get(requestId);
    const mayFail = request?.data.ifVersion !== undefined && response.error?.code === "CONFLICT";
    expect(response.success || mayFail, JSON.stringify(response)).toBe(true);
    if (request === undefined) return; // the response to a message about the connection itself
    this.answered.set(requestId, { request, response });
    this.pending.delete(requestId);
    this.onAnswer();
  }

  #rejoin(joined: JoinedRoom): void {
    expect(joined.reset).toBeUndefined();
    this.joined = joined;
    for (const change of joined.changes ?? []) this.#see(change, "catchingUp");
    expect(this.lastSeq).toBe(joined.seq);
    this.#online.clear();
    this.#readPage(joined);
    // Presence arrives with the subscription; until that starts, this client does not learn of ends.
    this.#presence.clear();
    if (this.pending.size === 0) return;
    const done = makersOf(this.seen);
    this.unanswered.open += this.pending.size;
    this.unanswered.done += [...this.pending.keys()].filter((requestId) => done.has(requestId)).length;
  }

  #readPage({ users, next = null }: OnlinePage): void {
    for (const { id } of users) this.#online.add(id);
    this.nextPage = next;
  }

  /** Notes a change. Changes that later ones supersede may be missing while catching up. */
  #see({ seq, event, data }: Change, how: "live" | "catchingUp" = "live"): void {
    if (how === "live") expect(seq, "the next change").toBe(this.lastSeq + 1);
    else expect(seq, "a later change").toBeGreaterThan(this.lastSeq);
    this.seen.push({ seq, event, data });
  }
}

export interface View {
  readonly online: readonly string[];
  readonly presence: readonly (readonly [userId: string, value: unknown])[];
}

/** Sorted, so that equal views are equal as JSON. */
export const viewOf = (online: readonly string[], presence: View["presence"]): View => ({
  online: [...online].sort(),
  presence: [...presence].sort(([a], [b]) => (a < b ? -1 : 1)),
});

const isJoinedRoom = (data: object): data is JoinedRoom => "sessionId" in data;

/** Users online: the response to `USERS_ONLINE`, and what that to `JOIN_ROOM` has of it. */
interface OnlinePage {
  readonly users: readonly { readonly id: string }[];
  readonly next?: OnlinePlace | null;
}

const isOnlinePage = (data: object): data is OnlinePage => "users" in data;
