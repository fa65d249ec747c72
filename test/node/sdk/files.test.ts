/** Files through the client and the server SDK, over a network that may break. */

import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import { AtriumClient } from "atrium/client";
import { AtriumServer } from "atrium/server";
import { describe, expect, it } from "vitest";
import { sharedService } from "../cli/shared-service.ts";
import { type Meeting, meet } from "./clients.ts";
import { BreakableProxy } from "./proxy.ts";

let meeting: Meeting;
let ada: UserWithToken;

const service = await sharedService();
const { url: serverUrl, accountId, apiKey } = service;
const server = new AtriumServer({ serverUrl, accountId, apiKey });

/** Ada's files in a new room. */
async function filesOfAda(serverUrl = service.url): Promise<AtriumClient["storage"]> {
  meeting = await meet(service);
  ada = await meeting.customer.createUser(meeting.roomId, "Ada");
  return storageOf(ada, serverUrl);
}

const storageOf = (
  { token }: Pick<UserWithToken, "token">,
  serverUrl = service.url,
): AtriumClient["storage"] => new AtriumClient({ serverUrl, authToken: token }).storage;

const plan = (text = "The plan", name = "plan.txt", type = "text/plain"): File =>
  new File([text], name, { type });

describe("client.storage", () => {
  it("uploads, lists and deletes a file without joining", async () => {
    const storage = await filesOfAda();
    const stored = await storage.upload({ file: plan() });
    expect(stored.url).toBe(storage.getUrl(stored));
    expect(await (await fetch(stored.url)).text()).toBe("The plan");
    expect(await storage.getAll()).toEqual([
      {
        ...stored,
        filename: "plan.txt",
        mimeType: "text/plain",
        size: 8,
        uploadedAt: expect.any(String),
        uploadedBy: ada.id,
      },
    ]);
    await storage.delete(stored);
    expect((await fetch(stored.url)).status).toBe(404);
    expect(await storage.getAll()).toEqual([]);
    await expect(storage.delete(stored)).rejects.toMatchObject({ code: "NOT_FOUND", module: "Files" });
  });

  it("returns the URL of a file with any name", async () => {
    const storage = await filesOfAda();
    for (const name of ["100 % sure?.txt", "#1 & 2+2.txt", "naïve 🚀.txt"]) {
      const { key, url } = await storage.upload({ file: plan(name, name) });
      expect(storage.getUrl({ key })).toBe(url);
      expect(await (await fetch(url)).text()).toBe(name);
    }
  });

  it("lists by type and uploader, across any number of pages", async () => {
    const storage = await filesOfAda();
    const bo = await meeting.customer.createUser(meeting.roomId, "Bo");
    const uploads = Array.from({ length: 103 }, (_, number) =>
      storage.upload({ file: plan("x", `${number}.png`, "image/png") }),
    );
    const keys = (await Promise.all(uploads)).map(({ key }) => key);
    await storageOf(bo).upload({ file: plan("y", "y.pdf", "application/pdf") });
    await storageOf(bo).upload({ file: plan("z", "z.gif", "image/gif") });
    expect((await storage.getAll()).length).toBe(105);
    const pictures = await storage.getAll({ mimeType: "image/", userId: ada.id });
    expect(pictures.map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
    const two = await storage.getAll({ mimeType: ["image/gif", "application/pdf"] });
    expect(two.map(({ filename }) => filename)).toEqual(["z.gif", "y.pdf"]);
  });

  it("reports progress until the file is stored", async () => {
    const storage = await filesOfAda();
    const reports: object[] = [];
    await storage.upload({ file: plan(), onProgress: (progress) => reports.push(progress) });
    expect(reports.at(-1)).toEqual({ loaded: 8, total: 8 });
  });

  it("accepts a blob with a name, and rejects an invalid file before sending it", async () => {
    const storage = await filesOfAda();
    const file = new Blob(["bytes"]);
    const { key } = await storage.upload({ file, filename: "bytes.bin" });
    expect(key).toMatch(/\/uploads\/bytes\.bin$/);
    await expect(storage.upload({ file })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    const huge = new Blob(Array(101).fill(new Uint8Array(1024 * 1024)));
    await expect(storage.upload({ file: huge, filename: "huge" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    });
    expect(await storage.getAll()).toHaveLength(1);
  });

  it("rejects with the service's error", async () => {
    const storage = await filesOfAda();
    const { key } = await storage.upload({ file: plan() });
    const { roomId } = meeting;
    const viewer = await server.users.create({ roomId, name: "Vera", role: "viewer" });
    const refused = { code: "FORBIDDEN", module: "Files" };
    await expect(storageOf(viewer).upload({ file: plan() })).rejects.toMatchObject(refused);
    await expect(storageOf(viewer).delete({ key })).rejects.toMatchObject(refused);
    expect(await storageOf(viewer).getAll()).toHaveLength(1);
    await server.rooms.delete(roomId);
    await expect(storage.getAll()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });

  it("stores a file once and deletes it once when the response is lost", async () => {
    const proxy = await BreakableProxy.before(service);
    const storage = await filesOfAda(proxy.url);
    await storage.getAll(); // opens the connection that will break
    proxy.cutAfter("down", 1);
    const { key } = await storage.upload({ file: plan() });
    expect((await storage.getAll()).map((file) => file.key)).toEqual([key]);
    const before = proxy.accepted;
    proxy.cutAfter("down", 1);
    await storage.delete({ key });
    expect(proxy.accepted).toBeGreaterThan(before);
    expect(await storage.getAll()).toEqual([]);
    await proxy.close();
  });

  it("neither stores nor retries an aborted upload", async () => {
    const proxy = await BreakableProxy.before(service);
    const storage = await filesOfAda(proxy.url);
    await storage.getAll();
    proxy.stall("up");
    const controller = new AbortController();
    const upload = storage.upload({ file: plan("x".repeat(1024 * 1024)), signal: controller.signal });
    controller.abort(new Error("Changed my mind"));
    await expect(upload).rejects.toThrow("Changed my mind");
    await expect(storage.upload({ file: plan(), signal: controller.signal })).rejects.toThrow(
      "Changed my mind",
    );
    expect(await storageOf(ada).getAll()).toEqual([]);
    await proxy.close();
  });
});

describe("AtriumServer.files", () => {
  it("rejects an aborted upload at once, also while it waits for its next attempt", async () => {
    await filesOfAda();
    const controller = new AbortController();
    const attempted = Promise.withResolvers<void>();
    const busy = { module: "Server", code: "RATE_LIMITED", message: "Wait and retry" };
    const patient = new AtriumServer({
      ...{ serverUrl: service.url, accountId: service.accountId, apiKey: service.apiKey },
      fetch: async () => {
        attempted.resolve();
        return Response.json(
          { data: {}, error: busy, requestId: "1" },
          { headers: { "Retry-After": "3600" } },
        );
      },
    });
    const { signal } = controller;
    const upload = { userId: ada.id, file: plan(), filename: "plan.txt", signal };
    let outcome: unknown = "waits";
    patient.files.upload(meeting.roomId, upload).catch((error: unknown) => {
      outcome = error;
    });
    await attempted.promise;
    controller.abort(new Error("Changed my mind"));
    await new Promise(setImmediate);
    expect(outcome).toBe(signal.reason);
  });

  it("uploads on behalf of a user, lists by page, and deletes", async () => {
    await filesOfAda();
    const { roomId } = meeting;
    const keys = [];
    for (const filename of ["a.txt", "b.txt", "c.txt"]) {
      keys.unshift((await server.files.upload(roomId, { userId: ada.id, file: plan(), filename })).key);
    }
    const { files, total } = await server.files.list(roomId, { limit: 2, mimeType: ["text/", "image/"] });
    expect([files.map(({ key }) => key), total]).toEqual([keys.slice(0, 2), 3]);
    for (const key of keys) await server.files.delete(key);
    expect((await server.files.list(roomId)).total).toBe(0);
  });
});
