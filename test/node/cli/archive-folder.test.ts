/** The folder of a backup that an interrupted run has left: it is continued, or refused when it is not as that has noted. */
import { appendFile, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ArchiveFolder, type Extent } from "../../../src/cli/archive/archive-folder.ts";
import { copyState, inOrder } from "../../../src/cli/archive/copy-state.ts";
import { eachOrganization } from "../../../src/cli/archive/deployment-folder.ts";
import { OperatorClient } from "../../../src/cli/archive/operator-client.ts";
import { CommandError } from "../../../src/cli/process/command.ts";
import { FACTS, RESTORED_SEQ } from "../../../src/platform/objects/object-tables.ts";

const SLICE = { signature: "signature", text: "{}" };
const DAMAGED = /is damaged, by a failure of power or by another command/;

let directory: string;
let folder: ArchiveFolder;
let noted: Extent;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "atrium-folder-"));
  folder = new ArchiveFolder(directory);
  noted = await folder.append("rooms", SLICE, { slices: 0, bytes: 0 });
});
afterEach(() => rm(directory, { recursive: true, force: true }));

it("loses what was appended and not noted, the half of a slice included", async () => {
  await folder.append("rooms", SLICE, noted);
  await appendFile(folder.fileOf("rooms"), "signature {");
  await folder.cut("rooms", noted);
  expect(await readFile(folder.fileOf("rooms"), "utf8")).toBe("signature {}\n");
  await folder.describe("rooms", noted);
});

it("is refused when it has less than was noted, or more in the end", async () => {
  await appendFile(folder.fileOf("rooms"), "of another command");
  await expect(folder.describe("rooms", noted)).rejects.toThrow(DAMAGED);
  await truncate(folder.fileOf("rooms"), 3);
  await expect(folder.cut("rooms", noted)).rejects.toThrow(DAMAGED);
  await rm(folder.fileOf("rooms"));
  await expect(folder.cut("rooms", noted)).rejects.toThrow(DAMAGED);
});

it("is refused when what was noted cannot be read", async () => {
  await folder.writeProgress({ part: 1 });
  expect(await folder.readProgress()).toEqual({ part: 1 });
  await writeFile(path.join(directory, "progress.json"), "{");
  await expect(folder.readProgress()).rejects.toThrow(DAMAGED);
});

it("returns slices as they were appended, whatever line separators their text has", async () => {
  const hostile = ["\u2028", "a\u2029b", "\u0085\u000b\u000c", "\ud83d\ude00".repeat(600_000), "\\n \\r"];
  const slices = [SLICE, ...hostile.map((text) => ({ signature: "signature", text: `{"text":"${text}"}` }))];
  let extent = noted;
  for (const slice of slices.slice(1)) extent = await folder.append("rooms", slice, extent);
  const read = [];
  for await (const slice of folder.slices("rooms")) read.push(slice);
  expect(read).toEqual(slices);
});

// Files that `npm run backup` copies, and their order. The tests of starts also start a service on the copy.

const COPIED = [
  "v3/d1/miniflare-D1DatabaseObject/a.sqlite",
  "v3/do/atrium-RoomObject/b.sqlite",
  "v3/do/atrium-EventLogObject/d.sqlite",
  "v3/do/atrium-SubscriberObject/c.sqlite",
  "v3/r2/miniflare-R2BucketObject/e.sqlite",
  "v3/r2/atrium-files/blobs/f",
  "demo.json",
];
const OMITTED = [
  "lock.json",
  "lock.sqlite",
  "v3/d1/miniflare-D1DatabaseObject/a.sqlite-wal",
  "v3/d1/miniflare-D1DatabaseObject/a.sqlite-shm",
  "v3/do/atrium-RoomObject/b.sqlite-journal",
  "v3/cache/miniflare-CacheObject/g.sqlite",
  "v3/ratelimit/miniflare-RateLimiterObject/h.sqlite",
];

it("copies what hands something over before what it hands it to, and nothing that only a running service needs", () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...COPIED, ...OMITTED]), (files) => {
      expect(inOrder(files)).toEqual(COPIED.filter((file) => files.includes(file)));
    }),
  );
});

it("lets the copy of a room go on above the numbers that it gives while the rest is copied", async () => {
  const [from, to] = [path.join(directory, "state"), path.join(directory, "copy")];
  const rooms = "v3/do/atrium-RoomObject";
  await mkdir(path.join(from, rooms), { recursive: true });
  const factsIn = (folder: string, name: string, write = "") => {
    const database = new DatabaseSync(path.join(folder, rooms, name));
    if (write !== "") database.exec(write);
    const tables = database.prepare("SELECT name FROM sqlite_master").all();
    const facts = tables.length === 0 ? [] : database.prepare("SELECT name, value FROM facts").all();
    database.close();
    return facts;
  };
  factsIn(from, "used.sqlite", `${FACTS.facts} INSERT INTO facts VALUES ('schema', '1')`);
  factsIn(from, "unused.sqlite", "PRAGMA user_version = 1");
  const began = Date.now();
  expect(await copyState(from, to, { onProgress: () => {}, stop: new AbortController().signal })).toBe(2);
  const copied = new Map(factsIn(to, "used.sqlite").map(({ name, value }) => [name, value]));
  expect([...copied.keys()]).toEqual([RESTORED_SEQ, "schema"]);
  expect(Number(copied.get(RESTORED_SEQ))).toBeGreaterThanOrEqual(began * 1_000);
  expect(factsIn(to, "unused.sqlite")).toEqual([]);
  expect(factsIn(from, "used.sqlite")).toHaveLength(1);
});

// Commands over the organizations of a deployment: some at a time, and a failure stops no other.

async function* named(count: number) {
  for (let index = 0; index < count; index += 1) yield { id: `${index}`, name: `Organization ${index}` };
}

const fail = (): never => {
  throw new CommandError("It is damaged.");
};

it("goes on after one that failed, and names it, unless it needs nothing any more", async () => {
  const handled: string[] = [];
  const failures = await eachOrganization(
    named(10),
    async ({ id }) => {
      if (id === "2" || id === "3") fail();
      handled.push(id);
    },
    async ({ id }) => id === "3",
  );
  expect(failures).toEqual([{ id: "2", name: "Organization 2", why: "It is damaged." }]);
  expect(handled.toSorted()).toEqual(["0", "1", "4", "5", "6", "7", "8", "9"]);
});

it("begins four at a time, and the next when one is done", async () => {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  const four = Promise.withResolvers<void>();
  const all = eachOrganization(
    named(9),
    ({ id }) =>
      new Promise<void>((resolve) => {
        begun.push(id);
        waiting.push(resolve);
        if (waiting.length === 4) four.resolve();
      }),
    async () => false,
  );
  for (let left = 9; left > 0; left -= 1) {
    if (left === 9) await four.promise;
    expect(waiting.length).toBeLessThanOrEqual(4);
    waiting.shift()?.();
    // Further calls have begun by then: they wait for promises only.
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toHaveLength(Math.min(9, 4 + 10 - left));
  }
  expect(await all).toEqual([]);
});

it("ends when the deployment does not answer either, after what is under way", async () => {
  const handled: string[] = [];
  const all = eachOrganization(
    named(10),
    async ({ id }) => {
      if (id === "0") fail();
      await new Promise((resolve) => setImmediate(resolve));
      handled.push(id);
    },
    () => Promise.reject(new CommandError("The service does not answer.")),
  );
  await expect(all).rejects.toThrow("The service does not answer.");
  expect(handled).toEqual(["1", "2", "3"]);
});

it("ends with what is no failure of an organization, such as a full disk", async () => {
  const full = async () => {
    throw new Error("ENOSPC");
  };
  await expect(eachOrganization(named(3), full, async () => false)).rejects.toThrow("ENOSPC");
});

describe("What the commands that back up and restore say of a service that does not answer", () => {
  const server = createServer((socket) => socket.destroy());
  let url: string;

  beforeEach(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it("say at once where they wait for an answer, not only when they give up", async () => {
    const stop = new AbortController();
    const shown: string[] = [];
    const client = new OperatorClient({
      accountId: "acme",
      purpose: "backup",
      url,
      token: async () => "token",
      stop: stop.signal,
      show: (line) => {
        shown.push(line);
        stop.abort();
      },
    });
    await expect(client.send("begin")).rejects.toThrow("aborted");
    expect(shown).toEqual([`The service at ${url} does not answer: fetch failed. Waiting …`]);
  });
});
