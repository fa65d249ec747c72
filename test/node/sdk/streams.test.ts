/** Durable streams through the client and the server SDK, over a network that may break. */

import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import { Atrium, AtriumClient } from "atrium/client";
import { AtriumServer, type RoomStream } from "atrium/server";
import { type StreamPart, stream } from "atrium/streams";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readEvents } from "../../../packages/sdk/durable-streams/events.ts";
import { eventually } from "../cli/processes.ts";
import { sharedService } from "../cli/shared-service.ts";
import { clientOf, type Meeting, meet } from "./clients.ts";
import { BreakableProxy } from "./proxy.ts";

const service = await sharedService();
const { url: serverUrl, accountId, apiKey } = service;
const atrium = new AtriumServer({ serverUrl, accountId, apiKey });

const JSON_TYPE = { contentType: "application/json" };
const TEXT_TYPE = "text/plain; charset=utf-8";

let meeting: Meeting;
let ada: UserWithToken;
let proxy: BreakableProxy | null = null;

beforeEach(async () => {
  meeting = await meet(service);
  ada = await meeting.customer.createUser(meeting.roomId, "Ada");
});

afterEach(async () => {
  await proxy?.close();
  proxy = null;
});

/** A stream as the back end has it, created with these options. */
async function created(name: string, options = {}): Promise<RoomStream> {
  const made = await atrium.stream(meeting.roomId, name);
  await made.create(options);
  return made;
}

/** The stream as Ada's page has it. */
const ofAda = (name: string, url = serverUrl): RoomStream => stream(clientOf(ada, { serverUrl: url }), name);

async function partsOf(source: RoomStream, options = {}): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of source.read(options)) parts.push(part);
  return parts;
}

const textIn = (parts: readonly StreamPart[]): string => parts.map(({ text }) => text).join("");
const messagesIn = (parts: readonly StreamPart[]): unknown[] => parts.flatMap(({ messages }) => messages);

/** The text of a stream as it is now. */
const textOf = async (source: RoomStream): Promise<string> => textIn(await partsOf(source, { live: false }));

/** Begins to read, and resolves once the read waits for more. */
async function watch(source: RoomStream, options = {}) {
  const parts: StreamPart[] = [];
  const over = (async () => {
    for await (const part of source.read(options)) parts.push(part);
    return parts;
  })();
  over.catch(() => {});
  await Promise.race([over, eventually("the read to catch up", () => parts.some((part) => part.isUpToDate))]);
  return { parts, over };
}

/** The address of a stream, and the back end's credential. */
const request = (name: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${meeting.customer.base}/rooms/${meeting.roomId}/streams/${name}`, {
    ...init,
    headers: { Authorization: `Bearer ${service.bearer}`, ...init.headers },
  });

describe("a stream", () => {
  it("is created once with the same options, and says its type, end and state", async () => {
    const answer = await atrium.stream(meeting.roomId, "answer");
    const options = { contentType: "text/markdown", ttlSeconds: 3600 };
    const made = await answer.create(options);
    expect(made).toMatchObject({ ...options, isClosed: false, expiresAt: null });
    expect(await answer.create(options)).toEqual(made);
    await expect(answer.create({ contentType: "text/plain" })).rejects.toMatchObject({ code: "CONFLICT" });
    await answer.append("Hello");
    const info = await answer.head();
    expect(info).toMatchObject({ ...options, isClosed: false, expiresAt: null });
    expect(info.offset > made.offset).toBe(true);
    await answer.close();
    await answer.close();
    expect(await answer.head()).toMatchObject({ isClosed: true, offset: info.offset });
    await expect(answer.append("more")).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(answer.create(options)).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("is gone once it is deleted, and another one of its name begins anew", async () => {
    const answer = await created("answer");
    await answer.append("old");
    expect(await textOf(ofAda("answer"))).toBe("old");
    await answer.delete();
    for (const call of [
      () => answer.head(),
      () => answer.delete(),
      () => answer.append("x"),
      () => textOf(answer),
    ])
      await expect(call()).rejects.toMatchObject({ code: "NOT_FOUND" });
    await answer.create(JSON_TYPE);
    await answer.append({ new: true });
    expect(messagesIn(await partsOf(ofAda("answer"), { live: false }))).toEqual([{ new: true }]);
  });

  it("can begin as a fork of another one", async () => {
    const draft = await created("draft");
    await draft.append("One. ");
    const { offset } = await draft.head();
    await draft.append("Two.");
    const fork = await created("fork", { from: { name: "draft", offset } });
    await fork.append("Other.");
    expect([await textOf(draft), await textOf(fork)]).toEqual(["One. Two.", "One. Other."]);
  });

  it("expires at a time", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const answer = await atrium.stream(meeting.roomId, "answer");
    for (const info of [await answer.create({ expiresAt }), await answer.head()])
      expect(Date.parse(info.expiresAt ?? "")).toBe(expiresAt.getTime());
  });

  it.each(["", ".", "..", "\ud800"])("refuses the name %j before it asks", async (name) => {
    expect(() => ofAda(name)).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
    const refused = expect.objectContaining({ code: "VALIDATION_ERROR" });
    await expect(atrium.stream(meeting.roomId, name)).rejects.toEqual(refused);
  });

  it("says what is missing where the answer has no text", async () => {
    const answer = await atrium.stream(meeting.roomId, "my answer");
    const missing = { code: "NOT_FOUND", message: 'Stream "my answer" not found: create() it first' };
    for (const call of [() => answer.head(), () => answer.append("x"), () => answer.writer().close("x")])
      await expect(call()).rejects.toMatchObject(missing);
    await answer.create();
    await (await atrium.stream(meeting.roomId, "fork")).create({ from: { name: "my answer" } });
    await answer.delete();
    const gone = expect.stringContaining('Stream "my answer" was deleted');
    await expect(answer.head()).rejects.toMatchObject({ code: "GONE", message: gone });
    const stranger = new AtriumServer({ serverUrl, accountId, apiKey: `${apiKey}x` });
    const refused = expect.stringContaining("needs another credential");
    const theirs = await stranger.stream(meeting.roomId, "fork");
    await expect(theirs.head()).rejects.toMatchObject({ code: "UNAUTHORIZED", message: refused });
  });

  it("needs the join in a room that was entered by its custom ID", async () => {
    const room = await atrium.rooms.create({ name: "Plan", customId: `plan-${meeting.roomId}` });
    const identity = await atrium.identities.create({ customId: `ada-${meeting.roomId}`, name: "Ada" });
    const { token } = await atrium.identities.createToken(identity.id);
    await meeting.customer.send("PUT", `/rooms/${room.id}/access`, {
      identitiesAccesses: { [identity.id]: ["*:write"] },
    });
    const client = new Atrium({ serverUrl, authToken: token }).enterRoom({ customId: room.custom_id ?? "" });
    const answer = stream(client, "answer");
    await expect(answer.create()).rejects.toMatchObject({ code: "NOT_JOINED" });
    await client.join();
    await answer.create();
    await answer.append("Hello");
    expect(await textOf(answer)).toBe("Hello");
    client.disconnect();
  });
});

describe("reading", () => {
  it("gives the present content, then each piece as it is written, and ends with the stream", async () => {
    const answer = await created("answer");
    await answer.append("Hello");
    const { parts, over } = await watch(ofAda("answer"));
    expect(textIn(parts)).toBe("Hello");
    const writer = answer.writer();
    for (const word of [" to", " all", " of", " you\n\n", "  \n"]) {
      const before = parts.length;
      await writer.write(word);
      await eventually("the word to arrive", () => parts.length > before);
    }
    await writer.close("End");
    await over;
    expect(textIn(parts)).toBe("Hello to all of you\n\n  \nEnd");
    expect(parts.at(-1)).toMatchObject({ isClosed: true, isUpToDate: true });
    expect(await textOf(ofAda("answer"))).toBe(textIn(parts));
  });

  it("goes on behind an earlier part, or with new content only", async () => {
    const answer = await created("log", JSON_TYPE);
    await answer.append({ line: 1 });
    const [first] = await partsOf(answer, { live: false });
    await answer.append({ line: 2 });
    const rest = await partsOf(answer, { live: false, offset: first?.offset });
    expect(messagesIn(rest)).toEqual([{ line: 2 }]);
    const { over } = await watch(ofAda("log"), { offset: "now" });
    await answer.close([3]);
    expect(messagesIn(await over)).toEqual([[3]]);
  });

  it("gives JSON by its messages, and other types by their bytes", async () => {
    const list = await created("list", JSON_TYPE);
    const bytes = await created("bytes", { contentType: "application/x-thing" });
    const reads = [await watch(ofAda("list")), await watch(ofAda("bytes"))];
    const values = ["text", 1, null, [1, [2]], { a: "é\r\n🚀" }, ""];
    for (const value of values) await list.append(value);
    await list.close();
    await bytes.append(Uint8Array.of(0, 13, 10, 255));
    await bytes.close(Uint8Array.of(1));
    const [messages = [], raw = []] = await Promise.all(reads.map(({ over }) => over));
    expect(messagesIn(messages)).toEqual(values);
    expect(raw.flatMap((part) => [...part.bytes])).toEqual([0, 13, 10, 255, 1]);
  });

  it("never shows half of a character, wherever others have cut it", async () => {
    const answer = await created("answer");
    const { parts, over } = await watch(ofAda("answer"));
    for (const byte of new TextEncoder().encode("a🚀é"))
      await request("answer", {
        method: "POST",
        headers: { "Content-Type": TEXT_TYPE },
        body: Uint8Array.of(byte),
      });
    await answer.close();
    await over;
    expect(textIn(parts)).toBe("a🚀é");
    expect(parts.map(({ text }) => text).join("|")).not.toContain("\ufffd");
  });

  it("polls where events do not arrive", async () => {
    const answer = await created("answer");
    const asked: string[] = [];
    /** A network that holds events back. */
    const buffered: typeof fetch = async (input, init) => {
      const { searchParams } = new URL(String(input));
      asked.push(searchParams.get("live") ?? "");
      if (searchParams.get("live") !== "sse") return fetch(input, init);
      return new Response("", { headers: { "Content-Type": "text/event-stream" } });
    };
    const behind = new AtriumServer({ serverUrl, accountId, apiKey, fetch: buffered });
    const { over } = await watch(await behind.stream(meeting.roomId, "answer"));
    const writer = answer.writer();
    for (const word of ["One ", "two ", "three"]) {
      await writer.write(word);
      await writer.flush();
    }
    await writer.close();
    expect(textIn(await over)).toBe("One two three");
    expect(asked.filter((live) => live === "sse")).toHaveLength(2);
    expect(asked).toContain("long-poll");
  });

  it("ends with the reason, by a signal or by the function of a subscription", async () => {
    const answer = await created("answer");
    await answer.append("Hello");
    const ending = new AbortController();
    const { over } = await watch(ofAda("answer"), { signal: ending.signal });
    ending.abort(new Error("enough"));
    await expect(over).rejects.toThrow("enough");

    const heard: string[] = [];
    const unsubscribe = ofAda("answer").subscribe(({ text }) => heard.push(text));
    await eventually("the text to arrive", () => heard.length > 0);
    unsubscribe();
    await answer.append(" again");
    expect(heard).toEqual(["Hello"]);
    const failed = new Promise((onError) => ofAda("none").subscribe(() => {}, { onError }));
    expect(await failed).toMatchObject({ code: "NOT_FOUND" });
  });

  it("ends when the stream is deleted, and when the reader is", async () => {
    const answer = await created("answer");
    const { over } = await watch(ofAda("answer"));
    await answer.delete();
    await expect(over).rejects.toMatchObject({ code: expect.stringMatching(/NOT_FOUND|GONE/) });

    const other = await created("other");
    const { over: refused } = await watch(ofAda("other"));
    let end: unknown = null;
    refused.catch((error: unknown) => {
      end = error;
    });
    await atrium.users.delete(meeting.roomId, ada.id);
    await eventually("the read to end", async () => {
      await other.append("secret");
      return end !== null;
    });
    expect(end).toMatchObject({ code: expect.stringMatching(/UNAUTHORIZED|FORBIDDEN/) });
  });

  it("asks for another token once the service refuses the one it has", async () => {
    const answer = await created("answer");
    const tokens = [`${ada.token.slice(0, -8)}AAAAAAAA`, ada.token];
    const client = clientOf({ token: () => tokens.shift() ?? ada.token }, { serverUrl });
    const { over } = await watch(stream(client, "answer"));
    await answer.close("Hello");
    expect(textIn(await over)).toBe("Hello");
    const forged = clientOf({ token: `${ada.token.slice(0, -8)}AAAAAAAA` }, { serverUrl });
    await expect(stream(forged, "answer").head()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });
});

describe("events", () => {
  const event = (name: string, ...lines: string[]): string =>
    [`event: ${name}`, ...lines.map((line) => `data: ${line}`), "", ""].join("\n");
  const text = [
    ": a comment\n\n",
    event("data", " a 🚀", "", "é\u2028b"),
    event("control", '{"streamNextOffset":"1","streamCursor":"7"}'),
    event("data", "c").replaceAll("\n", "\r\n"),
    event("data", "d").replaceAll("\n", "\r"),
    event("control", '{"streamNextOffset":"2","streamClosed":true}'),
    "event: data\ndata: cut",
  ].join("");

  it.each([1, 2, 3, 5, 64, 4096])("are whole however they are cut, as into %i bytes", async (size) => {
    const bytes = new TextEncoder().encode(text);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let from = 0; from < bytes.length; from += size)
          controller.enqueue(bytes.subarray(from, from + size));
        controller.close();
      },
    });
    const chunks = [];
    for await (const chunk of readEvents(body, false, () => {})) chunks.push(chunk);
    expect(chunks).toEqual([
      { data: [" a 🚀\n\né\u2028b"], offset: "1", cursor: "7", isUpToDate: false, isClosed: false },
      { data: ["c", "d"], offset: "2", cursor: null, isUpToDate: true, isClosed: true },
    ]);
  });
});

describe("a writer", () => {
  it("sends together what comes during a request, and never cuts a character", async () => {
    const answer = await created("answer");
    const writer = answer.writer();
    const long = "🚀é".repeat(600_000);
    for (const unit of `a${long}z`.match(/.{1,99991}/g) ?? []) await writer.write(unit);
    await writer.close();
    expect(writer.offset).toBe((await answer.head()).offset);
    const text = await textOf(answer);
    expect([text.length, text === `a${long}z`]).toEqual([long.length + 2, true]);
  });

  it("lets pieces come together until the interval is over, or a caller waits for them", async () => {
    const answer = await created("answer");
    const bodies: number[] = [];
    const counted: typeof fetch = (input, init) => {
      if (init?.body instanceof Uint8Array) bodies.push(init.body.length);
      return fetch(input, init);
    };
    const counting = new AtriumServer({ serverUrl, accountId, apiKey, fetch: counted });
    const writer = (await counting.stream(meeting.roomId, "answer")).writer({ intervalMs: 3_600_000 });
    await writer.write("first");
    await eventually("the first piece to be stored", async () => writer.offset !== null);
    for (const piece of ["a", "b", "c"]) {
      await writer.write(piece);
      await answer.head();
    }
    expect(bodies).toEqual([5]);
    await writer.flush();
    await writer.write("d");
    await answer.head();
    await writer.close("e");
    expect(bodies).toEqual([5, 3, 2]);
    expect(await textOf(answer)).toBe("firstabcde");
  });

  it("waits for the other half of a character", async () => {
    const answer = await created("answer");
    const writer = answer.writer();
    for (const half of "🚀🚀".split("")) {
      await writer.write(half);
      await writer.flush();
    }
    expect(await textOf(answer)).toBe("🚀🚀");
    await writer.close("\ud83d");
    expect(await textOf(answer)).toBe("🚀🚀\ufffd");
  });

  it("loses nothing to an earlier writer of the same name, which stops", async () => {
    const answer = await created("log", JSON_TYPE);
    const producerId = "worker";
    const first = answer.writer({ producerId });
    await first.write("a");
    await first.flush();
    const second = answer.writer({ producerId });
    await second.write("b");
    await second.flush();
    await first.write("c");
    await expect(first.flush()).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(first.write("d")).rejects.toMatchObject({ code: "FORBIDDEN" });
    await second.close("e");
    expect(messagesIn(await partsOf(answer))).toEqual(["a", "b", "e"]);
  });

  it("goes on after a crash: a marker stops the earlier process, and what is there stays", async () => {
    const job = await created("job", JSON_TYPE);
    const producerId = "job";
    const paused = job.writer({ producerId });
    for (const step of [1, 2]) await paused.write(step);
    await paused.flush();
    const writer = job.writer({ producerId });
    await writer.write("resumed");
    await writer.flush();
    const stored = messagesIn(await partsOf(job, { live: false }));
    expect(stored).toEqual([1, 2, "resumed"]);
    await paused.write(3);
    await expect(paused.flush()).rejects.toMatchObject({ code: "FORBIDDEN" });
    await writer.close(3);
    expect(messagesIn(await partsOf(job))).toEqual([...stored, 3]);
  });

  it("goes on above the epoch of a writer whose clock was ahead", async () => {
    const answer = await created("log", JSON_TYPE);
    const ahead = String(Number.MAX_SAFE_INTEGER - 10);
    const headers = { "Producer-Id": "worker", "Producer-Epoch": ahead, "Producer-Seq": "0" };
    await request("log", {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: "1",
    });
    await answer.writer({ producerId: "worker" }).close(2);
    expect(messagesIn(await partsOf(answer))).toEqual([1, 2]);
  });

  it("stops with the reason when the stream is closed, deleted or another one, and at its signal", async () => {
    const closed = await created("closed");
    const writer = closed.writer();
    await closed.close();
    void writer.write("late");
    await expect(writer.close()).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(writer.flush()).rejects.toMatchObject({ code: "CONFLICT" });

    const deleted = await created("deleted");
    const orphan = deleted.writer();
    await orphan.write("a");
    await orphan.flush();
    await deleted.delete();
    await orphan.write("b");
    await expect(orphan.flush()).rejects.toMatchObject({ code: "NOT_FOUND" });

    const replaced = await created("replaced");
    const stale = replaced.writer();
    await stale.write("a");
    await stale.flush();
    await replaced.delete();
    await replaced.create();
    await stale.write("b");
    await expect(stale.flush()).rejects.toMatchObject({ retryable: false });
    expect(await textOf(replaced)).toBe("");

    const ending = new AbortController();
    const stopped = replaced.writer({ signal: ending.signal });
    ending.abort(new Error("enough"));
    await stopped.write("c");
    await expect(stopped.flush()).rejects.toThrow("enough");
    const ended = await atrium
      .withSignal(AbortSignal.abort(new Error("over")))
      .stream(meeting.roomId, "replaced");
    await expect(ended.append("d")).rejects.toThrow("over");
  });

  it("refuses values that the stream cannot have, and goes on", async () => {
    const text = await created("text");
    const json = await created("json", JSON_TYPE);
    const bytes = await created("bytes", { contentType: "application/octet-stream" });
    const refused = { code: "VALIDATION_ERROR" };
    const writer = json.writer();
    for (const value of [Uint8Array.of(1), { at: Number.NaN }, "x".repeat(1024 * 1024)])
      await expect(writer.write(value)).rejects.toMatchObject(refused);
    await expect(text.append({})).rejects.toMatchObject(refused);
    await expect(bytes.append("text")).rejects.toMatchObject(refused);
    const value = { at: "first" };
    await writer.write(value);
    value.at = "changed";
    await writer.close();
    expect(messagesIn(await partsOf(json))).toEqual([{ at: "first" }]);
    await expect(writer.write(1)).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("needs the right to write", async () => {
    const answer = await created("answer");
    await answer.append("Hello");
    const { token } = await atrium.users.createToken(meeting.roomId, ada.id, { role: "viewer", ttl: 600 });
    const viewed = stream(new AtriumClient({ serverUrl, authToken: token }), "answer");
    expect(await textOf(viewed)).toBe("Hello");
    for (const call of [
      () => viewed.append("x"),
      () => viewed.create(),
      () => viewed.close(),
      () => viewed.delete(),
    ])
      await expect(call()).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await textOf(answer)).toBe("Hello");
  });

  it("appends of one client take turns, and each is stored once", async () => {
    const log = await created("log", JSON_TYPE);
    const client = clientOf(ada, { serverUrl });
    const own = stream(client, "log");
    const numbers = Array.from({ length: 50 }, (_, number) => number);
    await Promise.all(numbers.map((number) => own.append(number)));
    await Promise.all(numbers.map(() => stream(client, "log").append("other")));
    await own.append("last");
    const all = messagesIn(await partsOf(log, { live: false }));
    expect(all).toEqual([...numbers, ...numbers.map(() => "other"), "last"]);
  });
});

describe("over a network that breaks", () => {
  it.each([
    ["JSON", JSON_TYPE],
    ["text", {}],
  ])("%s arrives once and in order, whatever is cut amid appends and reads", async (_, options) => {
    const between = await BreakableProxy.before(service);
    proxy = between;
    await created("log", options);
    const { over } = await watch(ofAda("log", between.url));
    const writer = ofAda("log", between.url).writer();
    const lines = Array.from({ length: 400 }, (_unused, number) => `${number} 🚀\n`);
    for (const [number, line] of lines.entries()) {
      await writer.write(line);
      // A cut concerns the connections of this moment: a request that is under way, and the live read.
      if (number % 20 === 10) between.cutAfter(number % 40 === 10 ? "up" : "down", number % 300);
      if (number % 4 === 0) await new Promise(setImmediate);
      if (number % 50 === 0) await writer.flush();
    }
    await writer.close();
    const parts = await over;
    expect(textIn(parts) + messagesIn(parts).join("")).toBe(lines.join(""));
    expect(between.accepted).toBeGreaterThan(3);
  });

  it("a writer waits until the service is back", async () => {
    const between = await BreakableProxy.before(service);
    proxy = between;
    const answer = await created("answer");
    const writer = ofAda("answer", between.url).writer();
    // Its first request asks for the stream's type, the next one appends.
    for (const word of ["One ", "two "]) {
      between.shut();
      const { refused } = between;
      await writer.write(word);
      await eventually("attempts to fail", () => between.refused > refused + 4);
      between.open();
      await writer.flush();
    }
    await writer.close("three");
    expect(await textOf(answer)).toBe("One two three");
  });
});
