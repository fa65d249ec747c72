/** Final checks: everything acknowledged was done once, and all content follows from the changes. */

import type { Comment } from "@atrium/contract/resources/comment.ts";
import { expect } from "vitest";
import type { Change, Response } from "../../../src/room/protocol/protocol.ts";
import type { Answered, Client, Request } from "./client.ts";
import {
  COUNTER,
  commentChangeOf,
  followChangeOf,
  mergeLogs,
  REACTION,
  Replay,
  type StoreChange,
  storeChangeOf,
  supersededIn,
} from "./log.ts";

/** A room's content as a new client receives it. */
export interface Content {
  readonly changes: readonly Change[];
  readonly entries: Readonly<Record<string, { readonly value: unknown; readonly version: number }>>;
  readonly comments: readonly Comment[];
  readonly follows: Readonly<Record<string, readonly string[]>>;
}

/**
 * All clients received one sequence; each lacks only changes that were superseded while it was away. The
 * sequence leads to the room's content, and all responses were true.
 */
export function checkAgreement(clients: readonly Client[], content: Content): void {
  const log = mergeLogs([...clients.map(({ seen }) => seen), content.changes]);
  const replay = new Replay(log);
  const superseded = supersededIn(log);
  for (const { seen } of clients) {
    const received = new Set(seen.map(({ seq }) => seq));
    const missed = log.filter((change) => !received.has(change.seq));
    expect(missed.filter((change) => !superseded.has(change))).toEqual([]);
  }
  expect(content.entries).toEqual(Object.fromEntries(replay.entries));
  expect(content.comments).toEqual([...replay.comments.values()]);
  expect(content.follows).toEqual(Object.fromEntries(replay.follows));

  const acknowledged = clients.flatMap(({ userId, answered }) =>
    [...answered.values()].map((each) => new Acknowledgement(userId, each)),
  );
  const history = new History(log);
  for (const each of acknowledged) each.check(history, replay);
  const known = new Set(acknowledged.map(({ request }) => request.requestId));
  expect([...replay.made.keys()].filter((requestId) => !known.has(requestId))).toEqual([]);
  const removals = new Set(acknowledged.map(({ removal }) => removal));
  const removed = log.flatMap((change) => storeChangeOf(change) ?? []).filter(({ value }) => value === null);
  expect(removed.filter(({ seq, key, by }) => !removals.has(`${seq} ${key} ${by}`))).toEqual([]);
  const claimed = new Set(acknowledged.flatMap(({ seqs }) => seqs));
  expect([...history.unseen].filter((seq) => !claimed.has(seq))).toEqual([]);
  const increments = acknowledged.filter(({ isIncrement, isDone }) => isIncrement && isDone);
  expect(replay.entries.get(COUNTER)?.value.count ?? 0).toBe(increments.length);
}

/** The changes that were received, and the seqs of those that were superseded before anyone did. */
class History {
  readonly log: readonly Change[];
  readonly unseen: ReadonlySet<number>;

  constructor(log: readonly Change[]) {
    this.log = log;
    const seen = new Set(log.map(({ seq }) => seq));
    const all = Array.from({ length: log.at(-1)?.seq ?? 0 }, (_, index) => index + 1);
    this.unseen = new Set(all.filter((seq) => !seen.has(seq)));
  }

  /** Whether the entry can have been absent when the room had made the changes up to `seq`. */
  allowsAbsence(key: unknown, seq: number): boolean {
    const before = this.log.filter((change) => change.seq <= seq).map(storeChangeOf);
    const latest = before.findLast((change) => change?.key === key) ?? null;
    if (latest === null || latest.value === null) return true;
    return [...this.unseen].some((unseen) => unseen > latest.seq && unseen <= seq);
  }
}

/** A request with its response, compared with the changes. */
class Acknowledgement {
  readonly request: Request;
  readonly #userId: string;
  readonly #response: Response;

  constructor(userId: string, { request, response }: Answered) {
    this.#userId = userId;
    this.request = request;
    this.#response = response;
  }

  get isDone(): boolean {
    return this.#response.success;
  }

  get isIncrement(): boolean {
    return this.request.data.key === COUNTER && this.request.type === "STORE_SET";
  }

  /** Identifies the change that this request made if it deleted an entry. */
  get removal(): string | null {
    const { type, data } = this.request;
    return type === "STORE_DELETE" ? `${seqIn(this.#response)} ${data.key} ${this.#userId}` : null;
  }

  /** The changes that it made, according to its response; a deletion may have found nothing to delete. */
  get seqs(): readonly number[] {
    const { type } = this.request;
    if (!this.isDone) return [];
    if (type === "STORE_BATCH") return operationsOf(this.request, this.#response).map(({ seq = 0 }) => seq);
    return type.startsWith("STORE_") ? [seqIn(this.#response)] : [];
  }

  check(history: History, replay: Replay): void {
    const { log } = history;
    const { type, requestId, data } = this.request;
    const made = replay.made.get(requestId) ?? [];
    switch (type) {
      case "STORE_SET":
      case "STORE_UPDATE":
        this.#checkWrites(made, this.isDone ? [{ ...data, seq: seqIn(this.#response) }] : [], history);
        break;
      case "STORE_BATCH":
        this.#checkWrites(made, operationsOf(this.request, this.#response), history);
        break;
      case "STORE_DELETE":
        // When the deletion was confirmed the entry did not exist, no matter who had deleted it.
        expect(history.allowsAbsence(data.key, seqIn(this.#response))).toBe(true);
        break;
      case "COMMENT_CREATE":
      case "COMMENT_UPDATE":
        expect(made.map(commentChangeOf)).toMatchObject([{ ...this.#response.data, by: this.#userId }]);
        break;
      case "COMMENT_REACT":
        expect(replay.comments.get(String(data.commentId))?.reactions[REACTION]).toContain(this.#userId);
        break;
      case "USER_FOLLOW":
        expect(log.map(followChangeOf)).toContainEqual({ userId: data.userId, followerId: this.#userId });
        break;
    }
  }

  /** Each write is in the log once, where the response says and as the request has it, unless no one saw it. */
  #checkWrites(made: readonly Change[], writes: readonly Partial<StoreChange>[], { unseen }: History): void {
    const wanted = writes
      .filter(({ seq = 0 }) => !unseen.has(seq))
      .map(({ key, value, seq }) => ({ key, value, seq, version: seq, by: this.#userId }));
    expect(made.map(storeChangeOf)).toMatchObject(wanted);
  }
}

const seqIn = ({ data }: Response): number => (data as { readonly seq: number }).seq;

/** A batch's writes, with the seq of each from the response. */
function operationsOf({ data }: Request, response: Response): Partial<StoreChange>[] {
  const { operations } = data as { readonly operations: readonly Partial<StoreChange>[] };
  const { results } = response.data as { readonly results: readonly { readonly seq: number }[] };
  expect(results).toHaveLength(operations.length);
  return operations.map(({ key, value }, index) => ({ key, value, seq: results[index]?.seq }) as StoreChange);
}
