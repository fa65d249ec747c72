/** The request log: entries over REST, retention in its object, and the cost of a request. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { AppError } from "@atrium/contract/errors.ts";
import type { ApiRequest, LoggedRequest } from "@atrium/contract/rest/request-log.ts";
import { describe, expect, it } from "vitest";
import { RequestRecorder } from "../../src/features/request-log/recorder.ts";
import { openRequestLogs } from "../../src/features/request-log/request-log-object.ts";
import { RequestLogStore } from "../../src/features/request-log/store.ts";
import type { ServedRequest } from "../../src/http/pipeline.ts";
import { type Account, account } from "../support/api.ts";
import { answerOf } from "../support/person.ts";

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
    const missing = crypto.randomUUID();
    const send = async (method: string, path: string) =>
      (await answerOf({ REQUEST_LOG: "on" }, owner.api.request(method, path))).requestId;
    const [success, failure] = [await send("GET", "/rooms"), await send("DELETE", `/rooms/${missing}`)];
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

  it("is read with or without the requests of members, which the dashboard makes", async () => {
    const owner = await account();
    await append(owner, logged("key"), logged("member", { credential: "member" }));
    for (const [query, ids] of [
      ["", ["member", "key"]],
      ["?byMember=true", ["member"]],
      ["?byMember=false", ["key"]],
    ] as const)
      expect((await logOf(owner, query)).requests.map(({ id }) => id)).toEqual(ids);
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
        isByMember: undefined,
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

const KEY = { type: "key", accountId: "account", keyId: "key", name: "Key" } as const;
const MISSING = new AppError("Rooms", "NOT_FOUND", "Room not found");

let count = 0;
function served(changes: Partial<ServedRequest> = {}): ServedRequest {
  count += 1;
  return {
    ...{ requestId: `request ${count}`, accountId: "account", actor: KEY, address: "203.0.113.9" },
    endpoint: { method: "GET", path: "/rooms/:roomId", operation: "getRoom" },
    ...{ params: { roomId: "room" }, at: count, durationMs: 3, status: 200, trips: 1, error: null },
    ...{ clientRequestId: null, traceparent: null },
    ...changes,
  };
}

/** A recorder that waits until the test lets it continue, and the appended entries. */
function recorder(random = () => 0) {
  const appended: { readonly accountId: string; readonly requests: readonly LoggedRequest[] }[] = [];
  const waiting: (() => void)[] = [];
  const deferred: Promise<unknown>[] = [];
  const recording = new RequestRecorder({
    append: async (accountId, requests) => {
      appended.push({ accountId, requests });
    },
    wait: () => new Promise<void>((resolve) => waiting.push(resolve)),
    random,
  });
  return {
    record: (request: ServedRequest) => recording.record(request, (work) => deferred.push(work)),
    /** Lets the waiting requests be appended. */
    flush: async () => {
      for (const goOn of waiting.splice(0)) goOn();
      await Promise.all(deferred.splice(0));
      return appended.splice(0);
    },
  };
}

describe("requests of one organization", () => {
  it("are appended together, once for all that come meanwhile", async () => {
    const { record, flush } = recorder();
    record(served({ requestId: "first" }));
    record(served({ status: 404, error: MISSING, requestId: "second" }));
    expect(await flush()).toMatchObject([
      {
        accountId: "account",
        requests: [
          {
            ...{ id: "first", method: "GET", route: "/rooms/:roomId", operation: "getRoom", roomId: "room" },
            ...{ credential: "key", credentialId: "key", address: "203.0.113.0/24", weight: 1 },
            ...{ status: 200, durationMs: 3, errorCode: null, errorMessage: null },
          },
          { id: "second", status: 404, errorCode: "NOT_FOUND", errorMessage: "Room not found" },
        ],
      },
    ]);
    expect(await flush()).toEqual([]);
    record(served());
    expect(await flush()).toHaveLength(1);
  });

  it("are sampled where there are many: all failures are kept, and the successes stand for the others", async () => {
    const { record, flush } = recorder(() => 0.5);
    for (let index = 0; index < 200; index += 1) record(served());
    for (let index = 0; index < 30; index += 1) record(served({ status: 404, error: MISSING }));
    const [{ requests = [] } = {}] = await flush();
    const successes = requests.filter(({ status }) => status === 200);
    expect(successes.length).toBeLessThan(50);
    expect(successes.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(200);
    expect(requests.filter(({ status }) => status === 404)).toHaveLength(30);
    expect(requests.map(({ at }) => at)).toEqual(requests.map(({ at }) => at).sort((a, b) => a - b));
  });

  it("are kept apart from those of others", async () => {
    const { record, flush } = recorder();
    record(served());
    record(served({ accountId: "other" }));
    expect((await flush()).map(({ accountId }) => accountId)).toEqual(["account", "other"]);
  });
});

describe("a request without a valid credential", () => {
  const stranger = { actor: null, status: 401, error: new AppError("Auth", "UNAUTHORIZED", "No") };

  it("makes no log for an organization that only its path names", async () => {
    const { record, flush } = recorder();
    record(served({ ...stranger, accountId: "invented" }));
    record(served({ accountId: "invented", actor: { type: "anyone", address: "203.0.113.9" } }));
    expect(await flush()).toEqual([]);
  });

  it("is logged for an organization that has been seen, a few at a time", async () => {
    const { record, flush } = recorder();
    record(served());
    for (let index = 0; index < 100; index += 1) record(served(stranger));
    const [{ requests = [] } = {}] = await flush();
    const strangers = requests.filter(({ credential }) => credential === "none");
    expect(strangers.length).toBeLessThan(10);
    expect(strangers[0]).toMatchObject({ status: 401, credentialId: null });
  });
});

it("leaves out successful reads of the log itself", async () => {
  const { record, flush } = recorder();
  const endpoint = { method: "GET", path: "/requests", operation: "listRequests" } as const;
  record(served({ endpoint }));
  expect(await flush()).toEqual([]);
  record(served({ endpoint, status: 400, error: MISSING }));
  expect(await flush()).toHaveLength(1);
});
