/** The rule by which comments wake agents: depth, budget, and once for each agent and comment. */

import { LIMITS } from "@atrium/contract/limits.ts";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { AgentMentionedEvent } from "@atrium/contract/resources/events.ts";
import type { CommentAuthor, MentionedAgent } from "@atrium/contract/resources/thread.ts";
import { describe, expect, it } from "vitest";
import { Changes } from "../../../../src/room/engine/content/changes.ts";
import { RoomComments } from "../../../../src/room/engine/content/comments.ts";
import { RoomThreads } from "../../../../src/room/engine/content/threads.ts";
import {
  planWakes,
  RoomWakes,
  textsOf,
  type WakeSituation,
} from "../../../../src/room/engine/content/wakes.ts";
import type { SqliteStorage } from "../../../../src/room/storage/storage.ts";
import { randomOf } from "../../../support/random.ts";
import { eventPorts, roomPorts } from "../../support/room-ports.ts";
import { ROOM } from "../../support/rows.ts";
import { test } from "../../support/with-storage.ts";

const agent = (identityId: string, mention = identityId): MentionedAgent => ({
  identityId,
  customId: null,
  mention,
});
const ADA: CommentAuthor = { identityId: "ada", kind: "person" };
const BOT: CommentAuthor = { identityId: "bot", kind: "agent" };

const plan = (situation: Partial<WakeSituation>) =>
  planWakes({
    ...{ agents: [agent("bot"), agent("tool")], author: ADA, woken: new Set(), causeDepth: 0, spent: 0 },
    ...situation,
  });

const idsIn = (agents: readonly MentionedAgent[]) => agents.map(({ identityId }) => identityId);

describe("the plan of wakes", () => {
  it("wakes each agent that a person mentions, at depth 1, whatever agents have spent", () => {
    const { woken, refused, depth } = plan({ spent: LIMITS.wakesByAgents, causeDepth: LIMITS.wakeDepth });
    expect([idsIn(woken), refused, depth]).toEqual([["bot", "tool"], [], 1]);
  });

  it("wakes no agent by itself, none twice, and none that the comment has woken before", () => {
    const agents = [agent("bot"), agent("tool", "user of tool"), agent("tool"), agent("old")];
    const { woken, refused } = plan({ agents, author: BOT, woken: new Set(["old"]) });
    expect([woken, refused]).toEqual([[agent("tool", "user of tool")], []]);
  });

  it("is one deeper than the cause of an agent's comment, and ends above the limit", () => {
    expect(plan({ author: BOT, causeDepth: LIMITS.wakeDepth - 1 })).toMatchObject({
      ...{ woken: [agent("tool")], refused: [], depth: LIMITS.wakeDepth },
    });
    expect(plan({ author: BOT, causeDepth: LIMITS.wakeDepth })).toMatchObject({
      ...{ woken: [], refused: [agent("tool")] },
    });
  });

  it("ends with the budget of agents, and names the agents that it does not wake", () => {
    const agents = ["one", "two", "three"].map((id) => agent(id));
    const { woken, refused } = plan({ agents, author: BOT, spent: LIMITS.wakesByAgents - 1 });
    expect([idsIn(woken), idsIn(refused)]).toEqual([["one"], ["two", "three"]]);
  });

  it("wakes a bounded number of agents by one comment", () => {
    const agents = Array.from({ length: LIMITS.wokenAgents + 2 }, (_, number) => agent(String(number)));
    const { woken, refused } = plan({ agents });
    expect([woken.length, refused.length]).toEqual([LIMITS.wokenAgents, 2]);
  });
});

it("the texts of a thread are the latest that fit, oldest first", () => {
  const comment = (id: string, text: string) => ({ id, user_id: "ada", text, created_at: "" }) as Comment;
  const half = "x".repeat(LIMITS.wakeTextBytes / 2);
  const latest = [comment("3", half), comment("2", half), comment("1", "x")];
  expect(textsOf(latest).map(({ id }) => id)).toEqual(["2", "3"]);
  expect(textsOf([comment("1", "a"), comment("2", "b")]).map(({ text }) => text)).toEqual(["b", "a"]);
});

/** A room's comments whose mentions wake agents, at a time that the test moves. */
function open(storage: SqliteStorage) {
  let now = 0;
  const ports = roomPorts({ storage, now: () => now });
  storage.occupancy.writeRoom(ROOM);
  const changes = new Changes(ports);
  const comments = new RoomComments(ports, changes, new RoomThreads(ports, changes), eventPorts(ports));
  const wakes = new RoomWakes(eventPorts({ storage, now: () => now }));
  const write = (author: CommentAuthor, mentioned: readonly string[], threadId?: string) => {
    const subject = author.identityId ?? "user";
    const reader = { subject, userId: `user of ${subject}` };
    return storage.transaction(() => {
      const input = { text: `By ${subject}`, mentions: [], threadId };
      const comment = comments.create(input, reader, { readers: [], groups: [] });
      const agents = mentioned.map((id) => agent(id));
      const unnotified = wakes.wake(comment, {
        ...{ readers: [], groups: [], unnotified: [] },
        agents,
        author,
      });
      return { comment, unnotified };
    });
  };
  const takeEvents = () =>
    storage.events.list(1_000).flatMap(({ seq, event, body }) => {
      storage.events.delete(seq);
      return event === "agent.mentioned" ? [JSON.parse(body) as AgentMentionedEvent] : [];
    });
  return {
    ...{ comments, wakes, write, takeEvents },
    advance: (ms: number) => {
      now += ms;
    },
  };
}

const bot = (identityId: string): CommentAuthor => ({ identityId, kind: "agent" });

test("a wake has the comment, the other texts of its thread, and the author, for an inbox as well", ({
  storage,
}) => {
  const { write, takeEvents } = open(storage);
  const { comment: first } = write(ADA, []);
  const { comment } = write(BOT, ["tool"], first.id);
  const [event, ...others] = takeEvents();
  expect(others).toEqual([]);
  const { id, user_id, text, created_at } = first;
  expect(event).toMatchObject({
    data: { threadId: first.id, commentId: comment.id, identityId: "tool", by: BOT, depth: 1 },
    comment: { id: comment.id, text: "By bot" },
    thread: { id: first.id, user_id: "user of ada", comments: [{ id, user_id, text, created_at }] },
  });
  const updates = storage.inboxUpdates.list(10).map(({ body }) => JSON.parse(body) as object);
  expect(updates).toContainEqual(
    expect.objectContaining({ type: "wake", subject: "tool", body: JSON.stringify(event) }),
  );
});

test("two agents that answer each other end at the depth, and go on an hour later", ({ storage }) => {
  const { write, takeEvents, advance } = open(storage);
  const { comment } = write(ADA, ["bot"]);
  const answer = (by: string, to: string) => write(bot(by), [to], comment.id).unnotified;
  const refusals = [0, 1, 2].map(() => [answer("bot", "tool"), answer("tool", "bot")]);
  expect(refusals).toEqual([
    [[], []],
    [[], []],
    [["tool"], []],
  ]);
  expect(takeEvents().map(({ data }) => data.depth)).toEqual([1, 2, 3, 4, 5, 5]);
  advance(LIMITS.wakeLifetimeMs);
  expect([answer("bot", "tool"), takeEvents().map(({ data }) => data.depth)]).toEqual([[], [1]]);
});

test("threads that agents start end with the budget, which deleted comments do not give back", ({
  storage,
}) => {
  const { comments, write, takeEvents, advance } = open(storage);
  for (let wakes = 0; wakes < LIMITS.wakesByAgents; wakes += 1) {
    const { comment, unnotified } = write(BOT, ["tool"]);
    expect(unnotified).toEqual([]);
    comments.delete(comment.id, null);
  }
  expect(write(BOT, ["tool"]).unnotified).toEqual(["tool"]);
  expect(takeEvents().length).toBe(LIMITS.wakesByAgents);
  expect(write(ADA, ["tool"]).unnotified).toEqual([]);
  expect(write(BOT, ["tool"]).unnotified).toEqual(["tool"]);
  advance(LIMITS.wakeLifetimeMs);
  expect(write(BOT, ["tool"]).unnotified).toEqual([]);
});

test("an erased agent leaves no record", ({ storage }) => {
  const { write } = open(storage);
  const { comment } = write(ADA, ["bot", "tool"]);
  storage.wakes.deleteIdentity("bot");
  expect([
    storage.wakes.depthOf(comment.id, "bot", -1),
    storage.wakes.depthOf(comment.id, "tool", -1),
  ]).toEqual([0, 1]);
  expect([...storage.wakes.wokenBy(comment.id)]).toEqual(["tool"]);
});

test("a waiting wake ends with the erasure of someone whom it names", ({ storage }) => {
  const { write } = open(storage);
  const { comment } = write(ADA, []);
  write(bot("bot"), ["tool"], comment.id);
  const wakesLeft = () => storage.inboxUpdates.list(10).filter(({ body }) => body.includes('"wake"')).length;
  storage.inboxUpdates.deleteWakesNaming("someone else");
  expect(wakesLeft()).toBe(1);
  storage.inboxUpdates.deleteWakesNaming("user of ada");
  expect(wakesLeft()).toBe(0);
});

test("any history of agents that answer each mention ends within depth and budget", ({ storage }) => {
  const { write, takeEvents } = open(storage);
  const random = randomOf(7);
  const names = ["a", "b", "c", "d"];
  write(ADA, names);
  let [comments, byAgents] = [0, 0];
  for (let events = takeEvents(); events.length > 0; events = takeEvents()) {
    for (const { data } of events) {
      comments += 1;
      const others = names.filter((name) => name !== data.identityId && random(10) < 9);
      write(bot(data.identityId), others, random(2) === 0 ? data.threadId : undefined);
      byAgents += Number(data.by.kind === "agent");
      expect(data.depth).toBeLessThanOrEqual(LIMITS.wakeDepth);
    }
  }
  expect(comments).toBeGreaterThan(names.length);
  expect(byAgents).toBeLessThanOrEqual(LIMITS.wakesByAgents);
});
