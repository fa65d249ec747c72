/** The rule by which comments wake agents: depth, budget, and once for each agent and comment. */

import { LIMITS } from "@atrium/contract/limits.ts";
import type { Comment } from "@atrium/contract/resources/comment.ts";
import type { CommentAuthor, MentionedAgent } from "@atrium/contract/resources/thread.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "@atrium/contract/time.ts";
import { describe, expect, it } from "vitest";
import { planWakes, textsOf, type WakeSituation } from "../../../../src/room/engine/content/wakes.ts";
import { agent, bot, openWakingRoom } from "../../support/waking-room.ts";
import { test } from "../../support/with-storage.ts";

const ADA: CommentAuthor = { identityId: "ada", kind: "person" };
const BOT: CommentAuthor = { identityId: "bot", kind: "agent" };

const plan = (situation: Partial<WakeSituation>) =>
  planWakes({
    ...{ agents: [agent("bot"), agent("tool")], author: ADA, woken: new Set(), causeDepth: null },
    ...{ spent: 0, spentOn: () => 0 },
    ...situation,
  });

const idsIn = (agents: readonly MentionedAgent[]) => agents.map(({ identityId }) => identityId);

describe("the plan of wakes", () => {
  it("wakes each agent that a person mentions, at depth 1, whatever agents have spent", () => {
    const { woken, refused, depth } = plan({
      spent: LIMITS.wakesInRoom,
      spentOn: () => LIMITS.wakesOfAgent,
    });
    expect([idsIn(woken), refused, depth]).toEqual([["bot", "tool"], [], 1]);
  });

  it("wakes no agent by itself, none twice, and none that the comment has woken before", () => {
    const agents = [agent("bot"), agent("tool", "user of tool"), agent("tool"), agent("old")];
    const { woken, refused } = plan({ agents, author: BOT, causeDepth: 0, woken: new Set(["old"]) });
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

  it("ends with the budgets of the room and of each agent, and names the agents that it does not wake", () => {
    const agents = ["one", "two", "three"].map((id) => agent(id));
    const spentOn = (id: string) => LIMITS.wakesOfAgent - (id === "one" ? 0 : 1);
    const ofRoom = plan({ agents, author: BOT, causeDepth: 0, spent: LIMITS.wakesInRoom - 1 });
    const ofAgent = plan({ agents, author: BOT, causeDepth: 0, spentOn });
    expect([idsIn(ofRoom.woken), idsIn(ofRoom.refused)]).toEqual([["one"], ["two", "three"]]);
    expect([idsIn(ofAgent.woken), idsIn(ofAgent.refused)]).toEqual([["two", "three"], ["one"]]);
  });

  it("wakes a bounded number of agents by one comment", () => {
    const agents = Array.from({ length: LIMITS.wokenAgents + 2 }, (_, number) => agent(String(number)));
    const { woken, refused } = plan({ agents });
    expect([woken.length, refused.length]).toEqual([LIMITS.wokenAgents, 2]);
  });
});

it("the texts of a thread are the latest that fit, oldest first, and the beginning of a long one", () => {
  const comment = (id: string, text: string) => ({ id, user_id: "ada", text, created_at: "" }) as Comment;
  const idsOf = (latest: readonly Comment[]) => textsOf(latest).map(({ id }) => id);
  const long = "€".repeat(40 * 1024);
  expect(textsOf([comment("2", "b"), comment("1", long), comment("0", "a")])).toMatchObject([
    { id: "0", text: "a" },
    { id: "1", text: "€".repeat(Math.floor(LIMITS.wakeTextBytesOfOne / 3)) },
    { id: "2", text: "b" },
  ]);
  const most = LIMITS.wakeTextBytes / LIMITS.wakeTextBytesOfOne;
  const many = Array.from({ length: most + 2 }, (_, number) =>
    comment(String(number), "x".repeat(40 * 1024)),
  );
  expect(idsOf(many)).toEqual(idsOf(many.slice(0, most)));
  expect(idsOf(many).length).toBe(most);
});

test("a wake has the comment, the other texts of its thread, and the author", ({ storage }) => {
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
});

const other = (name: string) => (name === "bot" ? "tool" : "bot");

/** The threads in which two agents answer each other, if bot is mentioned first. */
const PLACES: readonly (readonly [string, (by: string, threads: readonly string[]) => string | undefined])[] =
  [
    ["the same thread", (_, [thread]) => thread],
    ["each in a thread of its own", (by, threads) => threads[by === "bot" ? 0 : 1]],
    ["a new thread", () => undefined],
  ];

for (const [place, threadOf] of PLACES)
  for (const pauseMs of [40_000, 10 * MINUTE_MS])
    test(`agents that answer each other in ${place} every ${pauseMs / 1_000} s end at the depth`, ({
      storage,
    }) => {
      const { write, takeEvents, advance } = openWakingRoom(storage);
      const threads = ["bot", "tool"].map((name) => write(ADA, [name]).comment.id);
      takeEvents();
      write(ADA, ["bot"], threads[1]);
      const depths: number[] = [];
      for (let turn = 0; turn < 300; turn += 1) {
        const [event] = takeEvents();
        if (event === undefined) break;
        depths.push(event.data.depth);
        advance(pauseMs);
        const by = event.data.identityId;
        write(bot(by), [other(by)], threadOf(by, threads));
      }
      expect(depths).toEqual([1, 2, 3, 4, 5]);
      write(ADA, ["bot"], threads[0]);
      expect(write(BOT, ["tool"], threads[0]).unnotified).toEqual([]);
      expect(takeEvents().map(({ data }) => data.depth)).toEqual([1, 2]);
    });

test("a mention is no cause a day later", ({ storage }) => {
  const { write, takeEvents, advance } = openWakingRoom(storage);
  write(ADA, ["bot"]);
  advance(DAY_MS - 1);
  write(BOT, ["tool"]);
  advance(1);
  write(BOT, ["tool"]);
  expect(takeEvents().map(({ data }) => data.depth)).toEqual([1, 2, 1]);
});

test("the budget of a room holds for an hour, that of an agent for a day, and deleted comments give nothing back", ({
  storage,
}) => {
  const { comments, write, takeEvents, advance } = openWakingRoom(storage);
  for (let hour = 0; hour < LIMITS.wakesOfAgent / LIMITS.wakesInRoom; hour += 1) {
    for (let wakes = 0; wakes < LIMITS.wakesInRoom; wakes += 1) {
      const { comment, unnotified } = write(BOT, ["tool"]);
      expect(unnotified).toEqual([]);
      comments.delete(comment.id, null);
    }
    expect(write(BOT, ["tool", "third"]).unnotified).toEqual(["tool", "third"]);
    expect(takeEvents().length).toBe(LIMITS.wakesInRoom);
    expect(write(ADA, ["tool"]).unnotified).toEqual([]);
    advance(HOUR_MS);
    takeEvents();
  }
  expect(write(BOT, ["tool", "third"]).unnotified).toEqual(["tool"]);
  advance(DAY_MS);
  expect(write(BOT, ["tool"]).unnotified).toEqual([]);
});

test("a comment of a workflow's run counts as an agent's, with the depth of the run", ({ storage }) => {
  const { write, inRun, takeEvents } = openWakingRoom(storage);
  write(ADA, ["bot"]);
  inRun(1, () => write(ADA, ["tool"]));
  write(bot("tool"), ["bot"]);
  inRun(LIMITS.wakeDepth - 1, () => write(BOT, ["tool"]));
  expect(inRun(LIMITS.wakeDepth, () => write(ADA, ["tool"])).unnotified).toEqual(["tool"]);
  expect(takeEvents().map(({ data }) => data.depth)).toEqual([1, 2, 3, 5]);
  for (let wakes = 3; wakes < LIMITS.wakesInRoom; wakes += 1) inRun(1, () => write(ADA, ["tool"]));
  expect(inRun(1, () => write(ADA, ["tool"])).unnotified).toEqual(["tool"]);
});

test("an erased agent leaves no record, and has spent the room's budget", ({ storage }) => {
  const { write } = openWakingRoom(storage);
  const { comment } = write(ADA, ["bot", "tool"]);
  write(bot("tool"), ["bot"]);
  storage.wakes.deleteIdentity("bot");
  const { wakes } = storage;
  expect([wakes.depthOf("bot", 0), wakes.depthOf("tool", 0)]).toEqual([0, 1]);
  expect([wakes.countOf("bot", 0), wakes.countOf(null, 0)]).toEqual([0, 1]);
  expect([...wakes.wokenBy(comment.id)]).toEqual(["tool"]);
});

test("what bounds no mention any more is deleted with the next wake", ({ storage }) => {
  const { write, advance } = openWakingRoom(storage);
  write(BOT, ["tool"]);
  advance(DAY_MS);
  write(ADA, ["bot"]);
  const left = (table: string) =>
    storage.read<{ id: string }>(`SELECT identity_id AS id FROM ${table}`).map(({ id }) => id);
  expect([left("wakes"), left("wake_counts")]).toEqual([["bot"], []]);
});
