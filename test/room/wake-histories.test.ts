/** Random histories of agents that answer every mention: each ends within depth and budgets, and hides no mention. */

import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { LIMITS } from "@atrium/contract/limits.ts";
import type { AgentMentionedEvent } from "@atrium/contract/resources/events.ts";
import type { CommentAuthor } from "@atrium/contract/resources/thread.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "@atrium/contract/time.ts";
import { expect, inject, it } from "vitest";
import { SqliteStorage } from "../../src/room/storage/storage.ts";
import { type Random, randomOf } from "../support/random.ts";
import { bot, openWakingRoom } from "./support/waking-room.ts";

const { seed: firstSeed, wakes: histories } = inject("endurance");

const PERSON: CommentAuthor = { identityId: "person", kind: "person" };
/** The longest times between two comments. */
const STEPS_MS = [15_000, 40_000, 10 * MINUTE_MS] as const;
/** A history in one room ends by itself before so many answers; one in two rooms need not, and is ended earlier. */
const MOST_ANSWERS = 5_000;
const ENDED_AFTER = 200;
const ALL = "all";

type Waking = ReturnType<typeof openWakingRoom>;

interface Count {
  readonly since: number;
  readonly count: number;
}

interface Wake {
  readonly id: string;
  readonly name: string;
  readonly depth: number;
}

/** A room, and what a history expects of it. */
class Room {
  readonly threads: string[] = [];
  /** The latest wakes of agents. */
  readonly latest = new Map<string, { readonly depth: number; readonly at: number }>();
  readonly expected: Wake[] = [];
  readonly #counts = new Map<string, Count>();
  readonly #object = env.ROOMS.getByName(crypto.randomUUID());
  readonly #clock: { ms: number };
  #waking: Waking | null = null;

  constructor(clock: { ms: number }) {
    this.#clock = clock;
  }

  do<T>(work: (room: Waking) => T): Promise<T> {
    return runInDurableObject(this.#object, (_, { storage }) => {
      this.#waking ??= openWakingRoom(new SqliteStorage(storage), this.#clock);
      return work(this.#waking);
    });
  }

  /** Closes its database: a process has a limit of open files. */
  leave(): Promise<void> {
    return evictDurableObject(this.#object);
  }

  causeDepth(name: string): number {
    const { depth, at } = this.latest.get(name) ?? { depth: 0, at: 0 };
    return at > this.#clock.ms - DAY_MS ? depth : 0;
  }

  /** The wakes by agents of a name, or of all, in a window that begins with the first. */
  countOf(name: string): number {
    const { since, count } = this.#counts.get(name) ?? { since: 0, count: 0 };
    return since > this.#clock.ms - (name === ALL ? HOUR_MS : DAY_MS) ? count : 0;
  }

  wake(wake: Wake, isByAgent: boolean): void {
    const { ms } = this.#clock;
    this.expected.push(wake);
    this.latest.set(wake.name, { depth: wake.depth, at: ms });
    for (const name of isByAgent ? [wake.name, ALL] : []) {
      const count = this.countOf(name);
      const since = count === 0 ? ms : (this.#counts.get(name)?.since ?? ms);
      this.#counts.set(name, { since, count: count + 1 });
    }
  }
}

/** A history, which a person begins. Its agents know of each other, and never stop by themselves. */
class History {
  readonly #random: Random;
  readonly #clock = { ms: 1 };
  readonly #rooms: readonly Room[];
  readonly #names: readonly string[];
  readonly #longestStep: number;
  readonly #woken = new Map<string, Set<string>>();

  constructor(random: Random) {
    this.#random = random;
    this.#rooms = Array.from({ length: this.#chance(25) ? 2 : 1 }, () => new Room(this.#clock));
    this.#names = Array.from({ length: 2 + random(4) }, (_, number) => `agent ${number}`);
    this.#longestStep = this.#of(STEPS_MS);
  }

  async run(): Promise<void> {
    let persons = 1 + this.#random(3);
    let answers = 0;
    await this.#write(PERSON, this.#of(this.#rooms));
    for (let events = await this.#take(); events.length > 0 || persons > 1; events = await this.#take()) {
      for (const event of events) {
        answers += 1;
        await this.#answer(event);
      }
      expect(answers).toBeLessThan(MOST_ANSWERS);
      if (this.#rooms.length > 1 && answers > ENDED_AFTER) return;
      if (persons > 1 && this.#chance(30)) {
        persons -= 1;
        const room = this.#of(this.#rooms);
        await this.#write(PERSON, room, this.#anyThread(room));
      }
    }
  }

  async leave(): Promise<void> {
    for (const room of this.#rooms) await room.leave();
  }

  #chance(percent: number): boolean {
    return this.#random(100) < percent;
  }

  #of<T>(some: readonly T[]): T {
    return some[this.#random(some.length)] as T;
  }

  #anyThread = ({ threads }: Room): string | undefined => this.#of(threads);

  #some = (): string[] => this.#names.filter(() => this.#chance(60));

  async #answer({ room, data: { identityId, threadId } }: Mention): Promise<void> {
    const author = bot(identityId);
    const place = this.#chance(20) ? this.#of(this.#rooms) : room;
    const here = place === room && this.#chance(70);
    const thread = here ? threadId : this.#chance(50) ? this.#anyThread(place) : undefined;
    const id = await this.#write(author, place, thread);
    if (this.#chance(20)) {
      const mentioned = this.#some();
      const { comment, unnotified } = await place.do(({ edit }) => edit(id, author, mentioned));
      this.#check(place, comment.id, author, mentioned, unnotified);
    }
    if (this.#chance(20)) await place.do(({ comments }) => comments.delete(id, null));
  }

  async #write(author: CommentAuthor, room: Room, inThread?: string): Promise<string> {
    this.#clock.ms += this.#random(this.#longestStep);
    const mentioned = this.#some();
    const { comment, unnotified } = await room.do(({ comments, write }) => {
      const isLeft =
        inThread !== undefined &&
        comments.part({ after: 0, limit: 1 }, { threadId: inThread }).comments.length > 0;
      return write(author, mentioned, isLeft ? inThread : undefined);
    });
    room.threads.push(comment.thread_id);
    this.#check(room, comment.id, author, mentioned, unnotified);
    return comment.id;
  }

  /** Compares the agents that a comment has woken with the model's. */
  #check(
    room: Room,
    id: string,
    { identityId: by, kind }: CommentAuthor,
    mentioned: readonly string[],
    unnotified: readonly string[],
  ): void {
    const woken = this.#woken.get(id) ?? new Set();
    this.#woken.set(id, woken);
    const isByAgent = kind === "agent";
    const depth = isByAgent ? room.causeDepth(by ?? "") + 1 : 1;
    const refused: string[] = [];
    for (const name of mentioned.filter((each) => each !== by && !woken.has(each))) {
      const isSpent = room.countOf(ALL) >= LIMITS.wakesInRoom || room.countOf(name) >= LIMITS.wakesOfAgent;
      if (depth > LIMITS.wakeDepth || (isByAgent && isSpent)) refused.push(name);
      else {
        woken.add(name);
        room.wake({ id, name, depth }, isByAgent);
      }
    }
    expect(unnotified).toEqual(refused);
  }

  async #take(): Promise<Mention[]> {
    const mentions: Mention[] = [];
    for (const room of this.#rooms) {
      const events = await room.do(({ takeEvents }) => takeEvents());
      const found = events.map(({ data: { commentId: id, identityId: name, depth } }) => ({
        id,
        name,
        depth,
      }));
      expect(found).toEqual(room.expected.splice(0));
      mentions.push(...events.map(({ data }) => ({ room, data })));
    }
    return mentions;
  }
}

interface Mention extends Pick<AgentMentionedEvent, "data"> {
  readonly room: Room;
}

it(
  "histories of agents that mention each other end within depth and budgets, and name all that is not sent",
  async () => {
    for (let number = 0; number < histories; number += 1) {
      const history = new History(randomOf(firstSeed + number));
      await history.run();
      await history.leave();
    }
  },
  60_000 + histories * 2_000,
);

it("agents that answer each other in two rooms end with the budgets of a day", async () => {
  const clock = { ms: 1 };
  const rooms = [new Room(clock), new Room(clock)] as const;
  await rooms[0].do(({ write }) => write(PERSON, ["one"]));
  let wakes = 0;
  for (let by = 0; clock.ms < DAY_MS; by = 1 - by) {
    const room = rooms[by] as Room;
    if ((await room.do(({ takeEvents }) => takeEvents())).length === 0) break;
    wakes += 1;
    clock.ms += 40_000;
    const [author, to] = by === 0 ? ["one", "two"] : ["two", "one"];
    await (rooms[1 - by] as Room).do(({ write }) => write(bot(author), [to]));
  }
  expect(wakes).toBe(2 * LIMITS.wakesOfAgent + 1);
});
