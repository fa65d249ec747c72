/** The rule by which comments wake agents: depth, budget, and once for each agent and comment. */

import { LIMITS } from "@atrium/contract/limits.ts";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { CommentAuthor, MentionedAgent } from "@atrium/contract/resources/thread.ts";
import { describe, expect, it } from "vitest";
import { planWakes, textsOf, type WakeSituation } from "../../../../src/room/engine/content/wakes.ts";
import { agent, bot, openWakingRoom } from "../../support/waking-room.ts";
import { test } from "../../support/with-storage.ts";

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

test("a wake has the comment, the other texts of its thread, and the author, for an inbox as well", ({
  storage,
}) => {
  const { write, takeEvents } = openWakingRoom(storage);
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
  const { write, takeEvents, advance } = openWakingRoom(storage);
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
  const { comments, write, takeEvents, advance } = openWakingRoom(storage);
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

test("a thread that an agent starts is one deeper than the deepest mention of it in the room", ({
  storage,
}) => {
  const { write, takeEvents } = openWakingRoom(storage);
  write(ADA, ["bot"]);
  for (const [by, to] of ["bot", "tool", "bot", "tool", "bot"].entries())
    expect(write(bot(to), [to === "bot" ? "tool" : "bot"]).unnotified.length).toBe(by < 4 ? 0 : 1);
  expect(takeEvents().map(({ data }) => data.depth)).toEqual([1, 2, 3, 4, 5]);
});

test("an erased agent leaves no record", ({ storage }) => {
  const { write } = openWakingRoom(storage);
  const { comment } = write(ADA, ["bot", "tool"]);
  storage.wakes.deleteIdentity("bot");
  expect([
    storage.wakes.depthOf("bot", comment.id, -1),
    storage.wakes.depthOf("tool", comment.id, -1),
  ]).toEqual([0, 1]);
  expect([...storage.wakes.wokenBy(comment.id)]).toEqual(["tool"]);
});

test("a waiting wake ends with the erasure of someone whom it names", ({ storage }) => {
  const { write } = openWakingRoom(storage);
  const { comment } = write(ADA, []);
  write(bot("bot"), ["tool"], comment.id);
  const wakesLeft = () => storage.inboxUpdates.list(10).filter(({ body }) => body.includes('"wake"')).length;
  storage.inboxUpdates.deleteWakesNaming("someone else");
  expect(wakesLeft()).toBe(1);
  storage.inboxUpdates.deleteWakesNaming("user of ada");
  expect(wakesLeft()).toBe(0);
});
