/** Which requests an isolate appends to the log of their organization, when, and what they stand for. */
import { describe, expect, it } from "vitest";
import { RequestRecorder } from "../../src/features/request-log/recorder.ts";
import type { LoggedRequest } from "../../src/features/request-log/schema.ts";
import type { ServedRequest } from "../../src/http/pipeline.ts";
import { AppError } from "../../src/platform/errors.ts";

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

/** A recorder that waits until it is let go on, and what it has appended. */
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
    /** Lets what waits be appended. */
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
