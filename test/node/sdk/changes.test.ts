/** The changes of a room through the server SDK, over a network that may break. */

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
