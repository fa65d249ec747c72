/** The request log: what an organization finds in it over REST, what its object keeps, and what a request costs. */
import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { openRequestLogs } from "../../src/features/request-log/request-log-object.ts";
import type { ApiRequest, LoggedRequest } from "../../src/features/request-log/schema.ts";
import { RequestLogStore } from "../../src/features/request-log/store.ts";
import { type Account, account } from "../support/api.ts";

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

interface Log {
  readonly requests: ApiRequest[];
  readonly cursor: string | null;
}

const logged = (id: string, changes: Partial<LoggedRequest> = {}): LoggedRequest => ({
  ...{ id, at: Date.now(), method: "GET", route: "/rooms", operation: "listRooms", status: 200 },
  ...{ durationMs: 4, credential: "key", credentialId: "key", roomId: null, address: null, weight: 1 },
  ...{ errorCode: null, errorMessage: null, clientRequestId: null, traceId: null },
  ...changes,
});

const logOf = async (owner: Account, query = "") => (await owner.api.get<Log>(`/requests${query}`)).data;
const append = (owner: Account, ...requests: LoggedRequest[]) =>
  openRequestLogs(env)(owner.id).append(requests);

describe("an API request", () => {
  it("is found by the ID of its response, with its status, duration, credential and error", async () => {
    const owner = await account();
    const bindings = { ...env, REQUEST_LOG: "on" };
    const execution = createExecutionContext();
    const missing = crypto.randomUUID();
    const responses = [
      await app.fetch(owner.api.request("GET", "/rooms"), bindings, execution),
      await app.fetch(owner.api.request("DELETE", `/rooms/${missing}`), bindings, execution),
    ];
    await waitOnExecutionContext(execution);
    const [success, failure] = responses.map(({ headers }) => headers.get("X-Request-Id") ?? "");
    const found = await owner.api.get<{ request: ApiRequest }>(`/requests/${failure}`);
    expect(found.data.request).toEqual({
      ...{ id: failure, at: expect.any(String), method: "DELETE", route: "/rooms/:roomId", status: 404 },
      ...{ client_request_id: null, trace_id: null },
      ...{ operation: "deleteRoom", duration_ms: expect.any(Number), room_id: missing, weight: 1 },
      credential: { type: "key", id: owner.keyId },
      error: { code: "NOT_FOUND", message: "Room not found" },
      address: expect.stringMatching(/\.0\/24$/),
    });
    expect((await logOf(owner)).requests.map(({ id }) => id)).toEqual([failure, success]);
    expect((await logOf(owner, "?failed=true")).requests.map(({ id }) => id)).toEqual([failure]);
  });

  it("is not found by others, nor one that was never made", async () => {
    const [owner, other] = [await account(), await account()];
    await append(owner, logged("mine"));
    expect(await owner.api.get("/requests/mine")).toMatchObject({ status: 200 });
    expect(await other.api.get("/requests/mine")).toMatchObject({ status: 404 });
    expect((await logOf(other)).requests).toEqual([]);
  });
});

describe("the request log", () => {
  it("is read page by page, and filtered", async () => {
    const owner = await account();
    await append(
      owner,
      ...["a", "b", "c"].map((id) => logged(id)),
      logged("d", { operation: "getRoom", roomId: "room", credential: "user", credentialId: "user" }),
    );
    const first = await logOf(owner, "?limit=3");
    expect(first.requests.map(({ id }) => id)).toEqual(["d", "c", "b"]);
    const second = await logOf(owner, `?limit=3&after=${first.cursor}`);
    expect(second).toMatchObject({ requests: [{ id: "a" }], cursor: null });
    for (const query of ["operation=getRoom", "roomId=room", "credentialId=user"])
      expect((await logOf(owner, `?${query}`)).requests.map(({ id }) => id)).toEqual(["d"]);
  });

  it("keeps each request once, and so many of the latest", async () => {
    const stub = env.REQUEST_LOGS.getByName(crypto.randomUUID());
    await runInDurableObject(stub, (_, { storage }) => {
      const store = new RequestLogStore(storage, 3);
      store.append(["a", "b", "c", "d"].map((id) => logged(id)));
      store.append([logged("e")]);
      const all = {
        limit: 10,
        before: null,
        failedOnly: false,
        operation: null,
        credentialId: null,
        roomId: null,
      };
      expect(store.list(all, 0).requests.map(({ id }) => id)).toEqual(["e", "d", "c"]);
      expect([store.find("a", 0), store.find("e", 0)?.id]).toEqual([null, "e"]);
      store.append([logged("e")]);
      expect(store.list(all, 0).requests.filter(({ id }) => id === "e")).toHaveLength(1);
    });
  });

  it("keeps requests so long, then nothing at all", async () => {
    const stub = env.REQUEST_LOGS.getByName(crypto.randomUUID());
    await runInDurableObject(stub, async (object, { storage }) => {
      const start = Date.now();
      const tables = () =>
        storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'requests'").toArray();
      object.append([logged("old", { at: start })]);
      object.clock = () => start + WEEK_MS;
      expect(object.find("old")).toMatchObject({ id: "old", at: start });
      object.clock = () => start + WEEK_MS + 1;
      expect(object.find("old")).toBeNull();
      await object.alarm();
      expect(tables()).toEqual([]);
      object.append([logged("new", { at: start + WEEK_MS })]);
      expect(object.find("new")?.id).toBe("new");
    });
  });

  it("is removed with its organization", async () => {
    const owner = await account();
    await append(owner, logged("mine"));
    await openRequestLogs(env)(owner.id).remove();
    expect((await logOf(owner)).requests).toEqual([]);
  });
});
