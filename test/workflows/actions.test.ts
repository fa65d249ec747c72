/**
 * Changes that runs make in their room: as the organization, once per event, marked, and never in an endless
 * chain.
 */
import { beforeEach, describe, expect, it } from "vitest";
import type { BindingAnswer } from "../../src/sandbox/runners/runner.ts";
import { type BindingOptions, bindingsFor, type Stage, stage } from "./support.ts";
import { TestWorkflow } from "./test-workflow.ts";

const NO_ROOM = "the run has no room, because its workflow is for all rooms; give the workflow a roomId";

let at: Stage;
let userId: string;

beforeEach(async () => {
  at = await stage();
  userId = (await at.api.createUser(at.roomId)).id;
});

/** Asks for an action as a harness does. */
const act = (options: BindingOptions, name: string, args: unknown): Promise<BindingAnswer<unknown>> =>
  bindingsFor(at, options).call(`actions.${name}`, JSON.stringify(args));

const comments = async () => {
  const { data } = await at.api.get<{ comments: { id: string; text: string; resolved: boolean }[] }>(
    `/rooms/${at.roomId}/comments`,
  );
  return data.comments;
};
const entry = async (key: string) =>
  (await at.api.get<{ value: unknown }>(`/rooms/${at.roomId}/stores/board/${key}`)).data.value;

describe("a run", () => {
  it("changes what the room stores, and reaches who is online", async () => {
    const run = bindingsFor(at);
    const ask = async (name: string, args: unknown) => {
      const answer = await run.call(`actions.${name}`, JSON.stringify(args));
      if ("problem" in answer) throw new Error(answer.problem);
      return answer.value;
    };
    expect(await ask("stores.set", { store: "board", key: "a", value: [1] })).toEqual({ version: 1, seq: 1 });
    expect(await entry("a")).toEqual([1]);
    await ask("stores.delete", { store: "board", key: "a" });
    expect(await entry("a")).toBeUndefined();
    const created = await ask("comments.create", { userId, text: "Hello" });
    expect(created).toMatchObject({ comment: { user_id: userId, text: "Hello", resolved: false } });
    const [thread] = await comments();
    await ask("comments.create", { userId, text: "A reply", threadId: thread?.id });
    await ask("comments.resolve", { commentId: thread?.id });
    expect(await comments()).toMatchObject([
      { text: "Hello", resolved: true },
      { text: "A reply", thread_id: thread?.id },
    ]);
    const edits = [{ at: "end", insert: "By the run." }];
    expect(await ask("documents.edit", { name: "notes", edits: { edits } })).toMatchObject({ applied: true });
    expect(await run.call("documents.blocks", { name: "notes", blocks: {} })).toMatchObject({
      value: { blocks: [{ text: "By the run." }] },
    });
    expect(await run.call("documents.blocks", { name: "others", blocks: {} })).toEqual({ value: null });
    const { trail } = (await at.api.get<{ trail: object[] }>(`/rooms/${at.roomId}/documents/notes/trail`))
      .data;
    expect(trail).toMatchObject([{ author: { type: "workflow" } }]);
    expect(await ask("broadcasts.send", { event: "done", data: { by: "run" } })).toEqual({ delivered: 0 });
  });

  it.each([
    ["stores.set", { store: "board", key: "a" }, "actions.stores.set: value is required"],
    ["stores.set", { store: "", key: "a", value: 1 }, /^actions\.stores\.set: store: must have 1 to 128/],
    ["stores.set", { store: "b", key: "a", value: "x".repeat(200_000) }, /^actions\.stores\.set: .*bytes/],
    ["comments.create", { text: "Hello" }, "actions.comments.create: userId is required"],
    ["comments.create", { userId: "no one", text: "Hello" }, "actions.comments.create: User not found"],
    ["comments.resolve", { commentId: "none" }, "actions.comments.resolve: Comment not found"],
    ["documents.edit", { name: "notes", edits: { edits: [] } }, /^actions\.documents\.edit: edits\.edits: /],
    ["rooms.delete", {}, /^bindings: there is no such method/],
    ["toString", {}, /^bindings: there is no such method/],
    ["stores.set", 7, /^actions\.stores\.set: arguments/],
  ])("is refused %s with %j", async (name, args, problem) => {
    expect(await act({}, name, args)).toEqual({
      problem: problem instanceof RegExp ? expect.stringMatching(problem) : problem,
    });
  });

  it("is refused what is no JSON, is too long, or nests too deep", async () => {
    const run = bindingsFor(at);
    const deep = `{"store":"b","key":"a","value":${"[".repeat(40)}${"]".repeat(40)}}`;
    for (const json of [7, undefined, "{", "x".repeat(2 ** 20 + 1), deep])
      expect(await run.call("actions.stores.set", json)).toEqual({ problem: expect.any(String) });
    expect(await entry("a")).toBeUndefined();
  });

  it("is refused numbers that JSON cannot hold, with their names", async () => {
    const json = '{"store":"b","key":"a","value":{"x":[1e400]}}';
    expect(await bindingsFor(at).call("actions.stores.set", json)).toEqual({
      problem: expect.stringMatching(/^actions\.stores\.set: value\.x\.0: must be a number of at most/),
    });
    const code = `export default async ({ data }, { actions }) => {
      const failures = [];
      for (const x of [NaN, 1 / 0, -1 / 0])
        await actions.stores.set("board", "a", { x }).catch(({ message }) => failures.push(message));
      await actions.broadcasts.send({ event: "e", data: NaN }).catch(({ message }) => failures.push(message));
      return failures;
    };`;
    const subject = await TestWorkflow.create(at.api, code, {
      events: [],
      httpTrigger: true,
      roomId: at.roomId,
    });
    await at.api.post(`${subject.path}/trigger`, {});
    const [execution] = await subject.ran(1);
    expect(JSON.parse(execution?.result ?? "")).toEqual(
      ["x: is NaN", "x: is Infinity", "x: is -Infinity", "data: is NaN"].map((start) =>
        expect.stringContaining(start),
      ),
    );
    expect(await entry("a")).toBeUndefined();
  });

  it("is refused each of them without a room, and is given what to do", async () => {
    const roomless = bindingsFor({ ...at, roomId: "" });
    expect(await roomless.call("actions.stores.set", '{"store":"board","key":"a","value":1}')).toEqual({
      problem: `actions.stores.set: ${NO_ROOM}`,
    });
    const code = `export default (_, { actions }) => actions.broadcasts.send({ event: "done" });`;
    const started = await TestWorkflow.create(at.api, code, { events: [], httpTrigger: true });
    await at.api.post(`${started.path}/trigger`, {});
    expect(await started.ran(1)).toMatchObject([
      { status: "failed", result: expect.stringContaining(`actions.broadcasts.send: ${NO_ROOM}`) },
    ]);
    await started.change({ roomId: at.roomId });
    await at.api.post(`${started.path}/trigger`, {});
    expect((await started.ran(2))[1]).toMatchObject({ status: "success", result: '{"delivered":0}' });
  });

  it("counts its actions among its calls", async () => {
    const run = bindingsFor(at, { calls: 1 });
    await run.call("actions.broadcasts.send", '{"event":"one"}');
    expect(await run.call("actions.broadcasts.send", '{"event":"two"}')).toEqual({
      problem: "actions.broadcasts.send: a run may make at most 1 calls to its bindings",
    });
  });
});

describe("a run that is made again", () => {
  it("does nothing twice, in whichever order, and what one run asks for several times as often", async () => {
    const options = { workflowId: crypto.randomUUID(), eventId: crypto.randomUUID() };
    const once = async (texts: readonly string[]) => {
      const run = bindingsFor(at, options);
      const answers = texts.map((text) =>
        run.call("actions.comments.create", JSON.stringify({ userId, text })),
      );
      return (await Promise.all(answers)).map((answer) => JSON.stringify(answer)).toSorted();
    };
    const first = await once(["a", "b", "a"]);
    expect(await once(["a", "a", "b"])).toEqual(first);
    expect((await comments()).map(({ text }) => text).toSorted()).toEqual(["a", "a", "b"]);
    await once(["a", "c"]);
    expect(await comments()).toHaveLength(4);
  });

  it("edits a document once, although it reads other places then", async () => {
    const options = { workflowId: crypto.randomUUID(), eventId: crypto.randomUUID() };
    await at.api.post(`/rooms/${at.roomId}/documents/notes/edits`, {
      edits: [{ at: "end", insert: "Costs" }],
    });
    const once = async () => {
      const run = bindingsFor(at, options);
      const read = await run.call("documents.blocks", { name: "notes", blocks: {} });
      const { base, blocks } = (read as { value: { base: number; blocks: { end: string }[] } }).value;
      const edits = [{ at: { anchor: blocks[0]?.end }, insert: " doubled." }];
      return run.call("actions.documents.edit", JSON.stringify({ name: "notes", edits: { edits, base } }));
    };
    expect(await once()).toEqual(await once());
    const path = `/rooms/${at.roomId}/documents/notes/content`;
    expect((await at.api.get<{ content: string }>(path)).data.content).toBe("Costs doubled.");
  });

  it("neither deletes nor broadcasts again what has happened in between", async () => {
    const options = { workflowId: crypto.randomUUID(), eventId: crypto.randomUUID() };
    const target = { store: "board", key: "a" };
    await act(options, "stores.delete", target);
    await at.api.put(`/rooms/${at.roomId}/stores/board/a`, { value: "new" });
    await act(options, "stores.delete", target);
    expect(await entry("a")).toBe("new");
    const first = await act(options, "broadcasts.send", { event: "done" });
    expect(await act(options, "broadcasts.send", { event: "done" })).toEqual(first);
  });

  it("is another one for another event, and for another workflow", async () => {
    const [one, other] = [crypto.randomUUID(), crypto.randomUUID()];
    for (const options of [
      { workflowId: one, eventId: one },
      { workflowId: one, eventId: other },
      { workflowId: other, eventId: one },
    ])
      await act(options, "comments.create", { userId, text: "a" });
    expect(await comments()).toHaveLength(3);
  });
});

describe("an event that an action has caused", () => {
  it("has the depth and the workflow, and no run follows when they look like a loop", async () => {
    const code = `export default async (event, { actions }) => {
      await actions.comments.create({ userId: event.data.userId, text: "after " + (event.depth ?? 0) });
      return [event.depth ?? null, event.workflowId ?? null];
    };`;
    const loop = await TestWorkflow.create(at.api, code, { events: ["comment.created"] });
    await at.api.post(`/rooms/${at.roomId}/comments`, { userId, text: "Hello" });
    const executions = await loop.ran(7);
    expect(executions.slice(0, 6).map(({ result }) => JSON.parse(result))).toEqual([
      [null, null],
      ...[1, 2, 3, 4, 5].map((depth) => [depth, loop.workflow.id]),
    ]);
    expect(executions[6]).toMatchObject({
      status: "failed",
      attempts: 0,
      result: expect.stringMatching(/^Not started: its event has depth 6, .* looks like a loop/),
    });
    expect(await comments()).toHaveLength(7);
  });

  it("has them for files, too", async () => {
    const code = `export default async (event, { files }) => { await files.put("a.txt", "a"); };`;
    const writer = await TestWorkflow.create(at.api, code);
    await writer.run("session.started", { roomId: at.roomId });
    const logged = async () => {
      const { data } = await at.api.get<{ events: { event: string; depth?: number; workflowId?: string }[] }>(
        `/rooms/${at.roomId}/events?limit=100`,
      );
      return data.events.filter(({ event }) => event === "file.uploaded");
    };
    await expect
      .poll(logged)
      .toEqual([expect.objectContaining({ depth: 1, workflowId: writer.workflow.id })]);
  });
});
