/** Arguments that the SDK refuses before it sends anything, causes of its errors, and calls that are given up. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Atrium, AtriumClient, AtriumError, redeemLink } from "atrium/client";
import { openDocument } from "atrium/documents";
import { openInbox } from "atrium/inbox";
import { AtriumServer, verifyWebhook } from "atrium/server";
import { describe, expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { clientOf, join, meet, next } from "./clients.ts";
import { Clock } from "./clock.ts";

const service = await sharedService();
const { url: serverUrl, accountId, apiKey } = service;
const server = new AtriumServer({ serverUrl, accountId, apiKey });
const NOWHERE = "http://127.0.0.1:2";

/** A value as an application without types passes it. */
const untyped = (value: unknown) => value as never;

const tokenOf = (claims: object): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`;
const USER = tokenOf({ accountId: "a", roomId: "r", userId: "u" });
const IDENTITY = tokenOf({ accountId: "a", identityId: "i" });

function errorOf(action: () => unknown): AtriumError {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(AtriumError);
    return error as AtriumError;
  }
  return expect.unreachable();
}

const refusal = (promise: Promise<unknown>): Promise<AtriumError> =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => {
      expect(error).toBeInstanceOf(AtriumError);
      return error as AtriumError;
    },
  );

const ADDRESSES = [
  undefined,
  null,
  "",
  7,
  {},
  "atrium.example",
  "localhost:8787",
  "/v1",
  "https://",
  "ftp://atrium.example",
  "https://atrium.example?x=1",
  "https://atrium.example/#x",
  "https://ada:secret@atrium.example",
];

describe("An address", () => {
  it.each(ADDRESSES)("such as %j is refused by name, wherever it is passed", async (address) => {
    const url = untyped(address);
    const makers: (() => unknown)[] = [
      () => new AtriumServer({ serverUrl: url, accountId, apiKey }),
      () => new AtriumClient({ serverUrl: url, authToken: USER }),
      () => new Atrium({ serverUrl: url, authToken: IDENTITY }),
      () => openInbox({ serverUrl: url, authToken: IDENTITY }),
    ];
    const redeeming = redeemLink({ serverUrl: url, accountId, secret: "x", name: "Ada" });
    for (const error of [...makers.map(errorOf), await refusal(redeeming)]) {
      expect(error).toMatchObject({ code: "VALIDATION_ERROR", module: "Client", retryable: false });
      expect(error.message).toMatch(/^serverUrl must be an http or https URL/);
      expect(error.message).not.toContain("secret");
    }
  });

  it.each(["/", "/v1", "/v1/", "//"])("may end in %s", async (end) => {
    const meeting = await meet(service);
    const user = await meeting.customer.createUser(meeting.roomId, "Ada");
    const client = clientOf(user, { serverUrl: serverUrl + end });
    await client.join();
    await client.store("notes").set("1", "Hello");
    expect(await client.storage.getAll()).toEqual([]);
    const atEnd = new AtriumServer({ serverUrl: serverUrl + end, accountId, apiKey });
    expect((await atEnd.stores.get(meeting.roomId, "notes", "1")).value).toBe("Hello");
  });
});

describe("A credential", () => {
  it.each([undefined, null, "", " ", 7, {}, "key\u00e9", "two words"])(
    "such as %j is refused by its name",
    (value) => {
      const wrong = untyped(value);
      const refused = [
        ["accountId", errorOf(() => new AtriumServer({ serverUrl, accountId: wrong, apiKey }))],
      ] as [string, AtriumError][];
      if (value !== null)
        refused.push(["apiKey", errorOf(() => new AtriumServer({ serverUrl, accountId, apiKey: wrong }))]);
      for (const [name, error] of refused) {
        expect(error.code).toBe("VALIDATION_ERROR");
        expect(error.message).toMatch(new RegExp(`^${name} must be `));
        if (typeof value === "string" && value.trim() !== "") expect(error.message).not.toContain(value);
      }
    },
  );

  it.each([undefined, null, "", 7, {}, Promise.resolve(USER), "no token"])(
    "such as the token %j is refused by name",
    (value) => {
      const authToken = untyped(value);
      for (const make of [
        () => new AtriumClient({ serverUrl, authToken }),
        () => new Atrium({ serverUrl, authToken }),
        () => openInbox({ serverUrl, authToken }),
      ]) {
        const { code, message } = errorOf(make);
        expect([code, message.split(" ")[0]]).toEqual(["VALIDATION_ERROR", "authToken"]);
      }
    },
  );

  it.each([undefined, null])("is missing, and so named, where the options are %j", (options) => {
    for (const make of [
      () => new AtriumServer(untyped(options)),
      () => new AtriumClient(untyped(options)),
      () => new Atrium(untyped(options)),
      () => openInbox(untyped(options)),
    ]) {
      const { code, message } = errorOf(make);
      expect([code, message]).toEqual([
        "VALIDATION_ERROR",
        expect.stringMatching(/^(apiKey|authToken|serverUrl) must be /),
      ]);
    }
  });

  it.each([undefined, null, "", 7])("such as the webhook's secret %j is refused by name", (secret) => {
    const { code, message } = errorOf(() => verifyWebhook("{}", {}, untyped(secret)));
    expect([code, message.split(" ")[0]]).toEqual(["VALIDATION_ERROR", "secret"]);
  });

  it("may have a line end, as files bring it", async () => {
    const read = new AtriumServer({ serverUrl, accountId: ` ${accountId}`, apiKey: `${apiKey}\r\n` });
    expect((await read.organization.get()).id).toBe(accountId);
  });
});

describe("A name with half of a character", () => {
  const HALF = "draft \ud83d";

  it("is refused by name over REST, and is never another name", async () => {
    const { id: roomId } = await server.rooms.create({ name: "A room" });
    for (const call of [
      () => server.stores.set(roomId, "notes", HALF, 1),
      () => server.stores.set(roomId, HALF, "1", 1),
      () => server.stores.delete(roomId, "notes", HALF),
      () => server.documents.content(roomId, HALF),
      () => server.rooms.get(HALF),
      () => server.rooms.getByCustomId(HALF),
      () => server.users.get(HALF, "u"),
      () => server.rooms.list({ search: HALF }),
      () => server.rooms.create({ name: HALF }),
    ])
      expect(await refusal(call())).toMatchObject({ code: "VALIDATION_ERROR", retryable: false });
  });

  it("is refused by the client: as a key, a store, a file and a room", async () => {
    const client = await join(await meet(service), "Ada");
    for (const call of [
      () => client.store("notes").set(HALF, 1),
      () => client.store(HALF).set("1", 1),
      () => client.storage.delete({ key: HALF }),
      () => client.comments.create({ text: HALF }),
    ])
      expect(await refusal(call())).toMatchObject({ code: "VALIDATION_ERROR", retryable: false });
    expect(errorOf(() => client.storage.getUrl({ key: HALF })).code).toBe("VALIDATION_ERROR");
    const atrium = new Atrium({ serverUrl, authToken: IDENTITY });
    for (const room of [HALF, { customId: HALF }, "", undefined, {}, "..", { customId: "." }])
      expect([room, errorOf(() => atrium.enterRoom(untyped(room))).code]).toEqual([room, "VALIDATION_ERROR"]);
  });

  it("is refused as the name of a document", async () => {
    const client = await join(await meet(service), "Ada");
    expect(
      errorOf(() => openDocument(client, HALF, { doc: undefined, awareness: undefined, connect: undefined }))
        .code,
    ).toBe("VALIDATION_ERROR");
  });
});

it("refuses a body that JSON cannot express by name, over REST too", async () => {
  const { id: roomId } = await server.rooms.create({ name: "A room" });
  const { code, message } = await refusal(server.stores.set(roomId, "notes", "1", Number.NaN));
  expect([code, message]).toEqual(["VALIDATION_ERROR", "body.value must be JSON, and NaN is not"]);
});

describe("The cause of an error", () => {
  it("is what `fetch` threw, and what it could not read", async () => {
    const down = new AtriumServer({ serverUrl: NOWHERE, accountId, apiKey, maxRetries: 0 });
    const error = await refusal(down.rooms.list());
    expect([error.code, (error.cause as Error).name]).toEqual(["UNREACHABLE", "TypeError"]);
    expect(String((error.cause as Error).cause)).toContain("ECONNREFUSED");
    const page = new AtriumServer({
      ...{ serverUrl, accountId, apiKey, maxRetries: 0 },
      fetch: async () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
    });
    expect((await refusal(page.rooms.list())).cause).toBeInstanceOf(SyntaxError);
    const files = new AtriumClient({ serverUrl: NOWHERE, authToken: USER }).storage;
    const uploading = refusal(files.upload({ file: new Blob(["x"]), filename: "x.txt" }));
    expect((await uploading).cause).toBeInstanceOf(TypeError);
  });

  it("is what `authToken` threw, also for the calls that waited for it", async () => {
    const cause = new Error("The back end is on fire");
    const client = new AtriumClient({
      serverUrl,
      reconnect: false,
      authToken: async () => {
        throw cause;
      },
    });
    const writing = refusal(client.store("notes").set("1", 1));
    const asking = refusal(client.comments.list());
    expect(await refusal(client.join())).toMatchObject({ code: "CONNECTION_FAILED", cause });
    expect((await writing).cause).toBe(cause);
    expect((await asking).cause).toBe(cause);
    expect(client.socket.status.error?.cause).toBe(cause);
    expect((await refusal(client.storage.getAll())).cause).toBe(cause);
  });

  it("is why a webhook message could not be verified", () => {
    const error = errorOf(() => verifyWebhook("{}", {}, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    expect(error).toMatchObject({ code: "INVALID_SIGNATURE", cause: { name: "WebhookVerificationError" } });
    const without = errorOf(() =>
      verifyWebhook("{}", untyped(undefined), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
    );
    expect(without.message).toBe("The message could not be verified: Missing required headers");
  });
});

it.each([{ event: "user.created" }, [], null, undefined, 7])(
  "verifyWebhook says of a parsed body such as %j that it needs the raw one",
  (body) => {
    const error = errorOf(() => verifyWebhook(untyped(body), {}, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    expect([error.code, error.module]).toEqual(["VALIDATION_ERROR", "Webhooks"]);
    expect(error.message).toMatch(/^payload must be the raw request body/);
  },
);

/** Answers nothing, or after `answer`, and counts the requests. */
async function hanging(
  answer: (respond: (status: number, headers?: Record<string, string>) => void) => void,
) {
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let requests = 0;
  const silent = createServer((request, response) => {
    requests += 1;
    request.on("error", () => {});
    response.on("close", () => closed.resolve());
    asked.resolve();
    answer((status, headers = {}) => {
      const error = { code: "RATE_LIMITED", module: "Server", message: "Wait" };
      response.writeHead(status, headers).end(JSON.stringify({ data: {}, error, requestId: "1" }));
    });
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  return {
    serverUrl: `http://127.0.0.1:${port}`,
    asked: asked.promise,
    closed: closed.promise,
    requests: () => requests,
    close: () => {
      silent.closeAllConnections();
      silent.close();
    },
  };
}

describe("AtriumServer.withSignal", () => {
  it("ends a call that waits for its answer, and its request", async () => {
    const silent = await hanging(() => {});
    const aborting = new AbortController();
    const atrium = new AtriumServer({ ...silent, accountId, apiKey }).withSignal(aborting.signal);
    const calls = [
      atrium.rooms.list(),
      atrium.broadcast("r", "hello"),
      atrium.inbox("i").count(),
      atrium.rooms.each().next(),
      atrium.files.upload("r", { userId: "u", file: new Blob(["x"]), filename: "x.txt" }),
    ].map((call) => call.catch((error: unknown) => error));
    await silent.asked;
    const reason = new Error("Changed my mind");
    aborting.abort(reason);
    expect(await Promise.all(calls)).toEqual(calls.map(() => reason));
    await silent.closed;
    silent.close();
  });

  it("ends a call that waits for its next attempt, and one that is made afterwards", async () => {
    const busy = await hanging((respond) => respond(429, { "Retry-After": "3600" }));
    const aborting = new AbortController();
    const atrium = new AtriumServer({ ...busy, accountId, apiKey }).withSignal(aborting.signal);
    const listing = atrium.rooms.list().catch((error: unknown) => error);
    await busy.closed;
    const reason = new Error("Changed my mind");
    aborting.abort(reason);
    expect(await listing).toBe(reason);
    await expect(atrium.rooms.list()).rejects.toBe(reason);
    expect(busy.requests()).toBe(1);
    busy.close();
  });

  it("adds its signal to earlier ones, and leaves the instance as it was", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const both = server.withSignal(first.signal).withSignal(second.signal);
    expect((await both.organization.get()).id).toBe(accountId);
    first.abort(new Error("First"));
    await expect(both.rooms.list()).rejects.toThrow("First");
    await expect(server.withSignal(second.signal).organization.get()).resolves.toMatchObject({
      id: accountId,
    });
    expect((await server.organization.get()).id).toBe(accountId);
  });
});

it("an upload that waits for a token ends with its signal, and its function is not asked any more", async () => {
  const clock = new Clock();
  let asked = 0;
  const authToken = () => {
    asked += 1;
    return null;
  };
  const { storage } = new AtriumClient({ serverUrl, authToken }, clock);
  const aborting = new AbortController();
  const uploading = storage.upload({
    file: new Blob(["x"]),
    filename: "x.txt",
    signal: aborting.signal,
  });
  const reason = new Error("Changed my mind");
  queueMicrotask(() => aborting.abort(reason));
  await expect(uploading).rejects.toBe(reason);
  const before = asked;
  clock.advance(60_000);
  await new Promise(setImmediate);
  expect(asked).toBe(before);
  await expect(
    storage.upload({ file: new Blob(["x"]), filename: "x.txt", signal: aborting.signal }),
  ).rejects.toBe(reason);
});

it("presence.sync() refuses more targets than the service takes at once, by name", async () => {
  const { presence } = await join(await meet(service), "Ada");
  const offs = Array.from({ length: 100 }, (_, index) => presence.sync(`user-${index}`, () => {}));
  const error = errorOf(() => presence.sync("one-more", () => {}));
  expect([error.code, error.module, error.message]).toEqual([
    "VALIDATION_ERROR",
    "Presence",
    expect.stringMatching(/^target: at most 100 /),
  ]);
  presence.sync("user-1", () => {});
  offs[0]?.();
  presence.sync("one-more", () => {});
  presence.unsync();
});

it("a presence target that the service refuses is reported to the client's listener", async () => {
  const client = await join(await meet(service), "Ada");
  const reported = next("an error", (listener: (error: AtriumError) => void) => client.on("error", listener));
  client.presence.sync("x".repeat(10_000), () => {});
  expect(await reported).toMatchObject({ code: "VALIDATION_ERROR" });
});
