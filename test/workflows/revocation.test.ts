/** Calls that the service refuses a run, whatever the program does: after its end, and beyond its own room. */
import { describe, expect, inject, it } from "vitest";
import type { RunBindings } from "../../src/features/workflows/run-bindings.ts";
import type { Received } from "../support/receiver.ts";
import { bindingsFor, type Stage, stage } from "./support.ts";

const RECEIVER = `http://127.0.0.1:${inject("receiver").port}`;
const BYTES = new TextEncoder().encode("Hello");

const put = async (bindings: RunBindings): Promise<string> => {
  const answer = await bindings.call("files.put", { name: "a.txt", bytes: BYTES, type: "text/plain" });
  if (!("value" in answer)) throw new Error(answer.problem);
  return (answer.value as { key: string }).key;
};

const keysIn = async ({ api, roomId }: Stage): Promise<string[]> =>
  (await api.get<{ files: { key: string }[] }>(`/files?roomId=${roomId}`)).data.files.map(({ key }) => key);

const request = (name: string, behaviour = "ok"): Request => new Request(`${RECEIVER}/${behaviour}/${name}`);

const receivedBy = async (name: string): Promise<readonly Received[]> =>
  (await fetch(`${RECEIVER}/received/${name}`)).json();

describe("a run that is over", () => {
  it("cannot use any of its bindings, which the service itself refuses", async () => {
    const room = await stage();
    const bindings = bindingsFor(room);
    const key = await put(bindings);
    const name = crypto.randomUUID();
    const calls: Record<string, () => Promise<object>> = {
      "store.get": () => bindings.call("store.get", { store: "tasks", key: "a" }),
      "store.getAll": () => bindings.call("store.getAll", { store: "tasks" }),
      "room.get": () => bindings.call("room.get", {}),
      "room.getUsers": () => bindings.call("room.getUsers", {}),
      "documents.list": () => bindings.call("documents.list", {}),
      "documents.get": () => bindings.call("documents.get", { name: "notes", content: {} }),
      "files.list": () => bindings.call("files.list", { filter: {} }),
      "files.get": () => bindings.call("files.get", { key }),
      "files.put": () => bindings.call("files.put", { name: "b.txt", bytes: BYTES, type: "text/plain" }),
      "files.delete": () => bindings.call("files.delete", { key }),
      "actions.stores.set": () =>
        bindings.call("actions.stores.set", '{"store":"board","key":"a","value":1}'),
      fetch: () => bindings.call("fetch", { request: request(name), redirect: "follow" }),
    };
    bindings.revoke();
    for (const [method, call] of Object.entries(calls))
      expect(await call()).toEqual({ problem: `${method}: the run is over` });
    expect(await keysIn(room)).toEqual([key]);
    expect((await room.api.get(`/rooms/${room.roomId}/stores`)).data).toEqual({ stores: [] });
    expect(await receivedBy(name)).toEqual([]);
  });

  it("gets no response to a request that it was still making", async () => {
    const bindings = bindingsFor(await stage());
    const name = crypto.randomUUID();
    const pending = bindings.call("fetch", { request: request(name, "gate"), redirect: "follow" });
    await expect.poll(async () => (await receivedBy(name)).length).toBe(1);
    bindings.revoke();
    expect(await pending).toEqual({ problem: "fetch: the run is over" });
  });
});

it("a run of one room neither reads nor deletes a file of another one, even with its key", async () => {
  const own = await stage();
  const { id: siblingId } = await own.api.createRoom();
  const others = [{ ...own, roomId: siblingId }, await stage()];
  const bindings = bindingsFor(own);
  for (const other of others) {
    const key = await put(bindingsFor(other));
    const disguised = key.replace(other.roomId, own.roomId);
    for (const attempt of [key, disguised]) {
      expect(await bindings.call("files.get", { key: attempt })).toEqual({ value: null });
      expect(await bindings.call("files.delete", { key: attempt })).toEqual({ value: false });
    }
    expect(await keysIn(other)).toEqual([key]);
  }
});

describe("the calls of a run", () => {
  it("are carried out six at a time by the service, however many its program sends", async () => {
    const bindings = bindingsFor(await stage());
    const name = crypto.randomUUID();
    const pending = Array.from({ length: 8 }, () =>
      bindings.call("fetch", { request: request(name, "gate"), redirect: "follow" }),
    );
    await expect.poll(async () => (await receivedBy(name)).length).toBe(6);
    expect(await bindings.isOverdrawn()).toBe(false);
    await fetch(`${RECEIVER}/open/${name}/now`);
    expect((await Promise.all(pending)).filter((answer) => "value" in answer)).toHaveLength(8);
    expect(await receivedBy(name)).toHaveLength(8);
  });

  it("are not carried out if they still wait when the run is over", async () => {
    const bindings = bindingsFor(await stage());
    const name = crypto.randomUUID();
    const pending = Array.from({ length: 8 }, () =>
      bindings.call("fetch", { request: request(name, "gate"), redirect: "follow" }),
    );
    await expect.poll(async () => (await receivedBy(name)).length).toBe(6);
    bindings.revoke();
    expect(await Promise.all(pending)).toEqual(Array(8).fill({ problem: "fetch: the run is over" }));
    expect(await receivedBy(name)).toHaveLength(6);
  });
});
