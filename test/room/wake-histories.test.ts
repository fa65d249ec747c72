/** Random histories of agents that answer every mention: each ends within depth and budget, and hides no mention. */

import { LIMITS } from "@atrium/contract/limits.ts";
import type { AgentMentionedEvent } from "@atrium/contract/resources/events.ts";
import type { CommentAuthor } from "@atrium/contract/resources/thread.ts";
import { expect, inject, it } from "vitest";
import { type Random, randomOf } from "../support/random.ts";
import { bot, openWakingRoom } from "./support/waking-room.ts";
import { withStorage } from "./support/with-storage.ts";

const { seed: firstSeed, wakes: histories } = inject("endurance");

/** Histories of one room: after each, no mention is a cause any more. */
const IN_ONE_ROOM = 20;
const PERSON: CommentAuthor = { identityId: "person", kind: "person" };
const LONGEST_STEP_MS = 15_000;

type Room = ReturnType<typeof openWakingRoom>;

/** A history, which a person begins. Its agents know of each other, and never stop by themselves. */
class History {
  readonly #room: Room;
  readonly #random: Random;
  readonly #names: readonly string[];
  readonly #threads: string[] = [];
  /** The depths of the deepest mentions by thread and agent. */
  readonly #depths = new Map<string, number>();
  readonly #woken = new Map<string, Set<string>>();
  #byAgents = 0;

  constructor(room: Room, random: Random) {
    this.#room = room;
    this.#random = random;
    this.#names = Array.from({ length: 2 + random(4) }, (_, number) => `agent ${number}`);
  }

  run(): void {
    let persons = 1 + this.#random(3);
    this.#write(PERSON);
    for (let events = this.#take(); events.length > 0 || persons > 1; events = this.#take()) {
      for (const { data } of events) this.#answer(data);
      if (persons > 1 && this.#random(3) === 0) {
        persons -= 1;
        this.#write(PERSON, this.#anyThread());
      }
    }
  }

  #chance(percent: number): boolean {
    return this.#random(100) < percent;
  }

  #anyThread = (): string | undefined => this.#threads[this.#random(this.#threads.length)];

  #some = (): string[] => this.#names.filter(() => this.#chance(60));

  #answer({ identityId, threadId }: AgentMentionedEvent["data"]): void {
    const author = bot(identityId);
    const thread = this.#chance(70) ? threadId : this.#chance(50) ? this.#anyThread() : undefined;
    const id = this.#write(author, thread);
    if (this.#chance(20)) this.#edit(id, author);
    if (this.#chance(20)) this.#room.comments.delete(id, null);
  }

  #write(author: CommentAuthor, inThread?: string): string {
    this.#room.advance(this.#random(LONGEST_STEP_MS));
    const mentioned = this.#some();
    const thread =
      inThread !== undefined && this.#room.comments.part({ after: 0, limit: 1 }, { threadId: inThread });
    const { comment, unnotified } = this.#room.write(
      ...([author, mentioned] as const),
      thread && thread.comments.length > 0 ? inThread : undefined,
    );
    this.#threads.push(comment.thread_id);
    this.#check(comment.id, comment.thread_id, author, mentioned, unnotified);
    return comment.id;
  }

  #edit(id: string, author: CommentAuthor): void {
    const mentioned = this.#some();
    const { comment, unnotified } = this.#room.edit(id, author, mentioned);
    this.#check(id, comment.thread_id, author, mentioned, unnotified);
  }

  /** Compares the agents that a comment has woken with the model's. */
  #check(
    id: string,
    threadId: string,
    { identityId: by, kind }: CommentAuthor,
    mentioned: readonly string[],
    unnotified: readonly string[],
  ): void {
    const woken = this.#woken.get(id) ?? new Set();
    this.#woken.set(id, woken);
    const inThread = id === threadId ? "" : threadId;
    const depth = kind === "agent" ? (this.#depths.get(`${inThread} ${by}`) ?? 0) + 1 : 1;
    const fresh = mentioned.filter((name) => name !== by && !woken.has(name));
    const left = kind === "agent" ? LIMITS.wakesByAgents - this.#byAgents : fresh.length;
    const allowed = depth > LIMITS.wakeDepth ? 0 : left;
    expect(unnotified).toEqual(fresh.slice(allowed));
    for (const name of fresh.slice(0, allowed)) {
      woken.add(name);
      this.#expected.push({ id, name, depth });
      if (kind === "agent") this.#byAgents += 1;
      for (const place of ["", threadId]) {
        const known = this.#depths.get(`${place} ${name}`) ?? 0;
        this.#depths.set(`${place} ${name}`, Math.max(known, depth));
      }
    }
  }

  readonly #expected: { readonly id: string; readonly name: string; readonly depth: number }[] = [];

  #take(): AgentMentionedEvent[] {
    const events = this.#room.takeEvents();
    const found = events.map(({ data }) => ({
      id: data.commentId,
      name: data.identityId,
      depth: data.depth,
    }));
    expect(found).toEqual(this.#expected.splice(0));
    return events;
  }
}

it(
  "histories of agents that mention each other end within depth and budget, and name all that is not sent",
  async () => {
    for (let done = 0; done < histories; done += IN_ONE_ROOM)
      await withStorage(({ storage }) => {
        const room = openWakingRoom(storage);
        for (let number = done; number < Math.min(histories, done + IN_ONE_ROOM); number += 1) {
          new History(room, randomOf(firstSeed + number)).run();
          room.advance(2 * LIMITS.wakeLifetimeMs);
        }
      });
  },
  60_000 + histories * 2_000,
);
