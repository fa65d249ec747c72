/** The changes of a room through the server SDK, over a network that may break. */

import { createServer, type ServerResponse } from "node:http";
import { AtriumServer, type ChangesOptions, type RoomChange } from "atrium/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { type Meeting, meet } from "./clients.ts";
import { BreakableProxy } from "./proxy.ts";

const service = await sharedService();
const { url: serverUrl, accountId, apiKey } = service;
const atrium = new AtriumServer({ serverUrl, accountId, apiKey });

let meeting: Meeting;
let proxy: BreakableProxy | null = null;

beforeEach(async () => {
  meeting = await meet(service);
});

afterEach(async () => {
  await proxy?.close();
  proxy = null;
});

const set = (key: string, value: number) => atrium.stores.set(meeting.roomId, "tasks", key, value);

/** Reads until a change is the last one. */
async function readUntil(
  isLast: (change: RoomChange) => boolean,
  options: ChangesOptions = {},
  from = atrium,
): Promise<RoomChange[]> {
  const changes: RoomChange[] = [];
  for await (const change of from.changes(meeting.roomId, options)) {
    changes.push(change);
    if (isLast(change)) break;
  }
  return changes;
}

/** A server of which each answer is the next one. */
async function answering(...answers: readonly ((response: ServerResponse) => void)[]) {
  const times: number[] = [];
  const server = createServer((_, response) => {
    answers[times.length]?.(response);
    times.push(performance.now());
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://localhost:${address.port}`, times, close };
}

const EVENTS = { "Content-Type": "text/event-stream" };

const isOf = (key: string) => (change: RoomChange) => change.data.key === key;

describe("the changes of a room", () => {
  it("begin with a reset, and go on behind a place (S8)", async () => {
    const [reset] = await readUntil(({ event }) => event === "reset");
    if (reset === undefined) throw new Error("There was no event");
    for (const key of ["a", "b", "c"]) await set(key, 1);
    const changes = await readUntil(isOf("c"), { since: reset.place });
    expect(changes.map(({ event, data }) => [event, data.key])).toEqual([
      ["storeChanged", "a"],
      ["storeChanged", "b"],
      ["storeChanged", "c"],
    ]);
    const later = await readUntil(isOf("c"), { since: changes[1]?.place });
    expect(later).toEqual(changes.slice(2));
  });

  it("come without gaps or repetitions over connections that break (S8)", async () => {
    const [reset] = await readUntil(({ event }) => event === "reset");
    proxy = await BreakableProxy.before(service);
    const cut = new AtriumServer({ serverUrl: proxy.url, accountId, apiKey });
    const received: number[] = [];
    const reading = (async () => {
      for await (const { data, place } of cut.changes(meeting.roomId, { since: reset?.place })) {
        received.push(place.seq);
        if (received.length % 4 === 0) proxy?.cut();
        if (data.key === "last") return;
      }
    })();
    for (let each = 0; each < 20; each += 1) await set(`key${each}`, each);
    await set("last", 1);
    await reading;
    const first = (reset?.place.seq ?? 0) + 1;
    expect(received).toEqual(Array.from({ length: 21 }, (_, index) => first + index));
  });

  it("are asked for again a second later at the earliest, and refused when they are no JSON (S8)", async () => {
    const strange = await answering(
      (response) => response.writeHead(200, { "Content-Type": "text/html" }).end("id: a:1\ndata: {}\n\n"),
      (response) => response.writeHead(200, EVENTS).end(":\n\n"),
      (response) => response.writeHead(200, EVENTS).end("id: a:1\nevent: userCreated\ndata: {}\n\n"),
      (response) => response.writeHead(200, EVENTS).end("id: a:2\nevent: userCreated\ndata: {\n\n"),
    );
    const from = new AtriumServer({ serverUrl: strange.url, accountId, apiKey });
    const changes: RoomChange[] = [];
    const reading = (async () => {
      for await (const change of from.changes(meeting.roomId)) changes.push(change);
    })();
    await expect(reading).rejects.toMatchObject({
      message: expect.stringMatching(/^The feed of changes at/),
    });
    expect(changes).toEqual([{ event: "userCreated", data: {}, place: { epoch: "a", seq: 1 } }]);
    const gaps = strange.times.slice(1).map((time, index) => time - (strange.times[index] ?? 0));
    expect(gaps.map((gap) => gap > 900)).toEqual([true, true, true]);
    strange.close();
  });

  it("are called by their name in errors", async () => {
    const proxied = await answering((response) => response.writeHead(403).end());
    const from = new AtriumServer({ serverUrl: proxied.url, accountId, apiKey });
    await expect(readUntil(() => true, {}, from)).rejects.toMatchObject({
      module: "Rooms",
      code: "FORBIDDEN",
      message: expect.stringMatching(/^The feed of changes at .+ may not be used/),
    });
    proxied.close();
  });

  it("can be read again soon after many reads whose clients have gone (S6, S8)", async () => {
    const user = await meeting.customer.createUser(meeting.roomId, "Ada");
    const headers = { Authorization: `Bearer ${user.token}` };
    const stream = `${serverUrl}/v1/accounts/${accountId}/rooms/${meeting.roomId}/streams/answer`;
    await fetch(stream, { method: "PUT", headers: { ...headers, "Content-Type": "text/plain" } });
    const leaving = new AbortController();
    const opened = await Promise.all(
      Array.from({ length: 50 }, () =>
        fetch(`${stream}?offset=-1&live=sse`, { headers, signal: leaving.signal }),
      ),
    );
    for (const { body } of opened) await body?.getReader().read();
    const refused = await fetch(`${stream}?offset=-1&live=sse`, { headers });
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "1"]);
    leaving.abort();
    const startedAt = performance.now();
    const ofUser = new AtriumServer({ serverUrl, accountId, authToken: user.token });
    await readUntil(({ event }) => event === "reset", {}, ofUser);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  it("end for a user who is deleted, and with a signal (S8)", async () => {
    const user = await meeting.customer.createUser(meeting.roomId, "Ada");
    const ofUser = new AtriumServer({ serverUrl, accountId, authToken: user.token });
    const reading = readUntil(() => false, {}, ofUser);
    const refused = expect(reading).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    await readUntil(({ event }) => event === "reset");
    await atrium.users.delete(meeting.roomId, user.id);
    await refused;
    const ending = new AbortController();
    const aborted = readUntil(
      () => {
        ending.abort(new Error("enough"));
        return false;
      },
      { signal: ending.signal },
    );
    await expect(aborted).rejects.toThrow("enough");
  });
});
