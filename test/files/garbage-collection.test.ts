/** However an upload or a file ends, and wherever a crash cuts it off, neither a row nor bytes remain. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type Blobs, MAX_DELETED } from "../../src/features/files/storage/blobs.ts";
import { collectGarbage, MAX_UPLOAD_MS } from "../../src/features/files/storage/garbage-collection.ts";
import { WorkBudget } from "../../src/platform/flow/work-budget.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import { expectLogged } from "../support/log-guard.ts";
import { batchesOf } from "../support/rows-read.ts";
import {
  BOUNDARY,
  blobs,
  db,
  END,
  field,
  insertFiles,
  MEBIBYTE,
  type OwnerWithRoom,
  objectsOf,
  ownerWithRoom,
  part,
  sendForm,
  statesOf,
  store,
  textFile,
} from "./upload-form.ts";

const LATER = 2 * MAX_UPLOAD_MS + 60_000;

const remainsOf = async ({ id }: OwnerWithRoom) => [await statesOf(id), await objectsOf(id)];

const broken: Blobs = new Proxy(blobs, {
  get: () => async () => {
    throw new Error("R2 cannot be reached");
  },
});

/** An upload that pauses after `bytes` of its file until `meanwhile` settles. */
async function uploadPausing(owner: OwnerWithRoom, bytes: number, meanwhile: () => Promise<unknown>) {
  const head =
    field("roomId", owner.roomId) +
    field("userId", owner.userId) +
    part('name="file"; filename="a"').slice(0, -2);
  const encoder = new TextEncoder();
  const pieces = [
    encoder.encode(head),
    new Uint8Array(bytes),
    "pause",
    encoder.encode(`\r\n${END}`),
  ] as const;
  let next = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = pieces[next];
      next += 1;
      if (piece === undefined) controller.close();
      else if (piece === "pause") {
        await until(async () => (await statesOf(owner.id)).includes("uploading"));
        await meanwhile();
        controller.enqueue(encoder.encode("the end"));
      } else controller.enqueue(piece);
    },
  });
  return sendForm(owner.api, body, `multipart/form-data; boundary=${BOUNDARY}`);
}

/** Polls a condition; the test's own deadline ends it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await scheduler.wait(1);
}

describe("while a file is uploading", () => {
  it.each([MEBIBYTE, 12 * MEBIBYTE])(
    "after %i bytes, it is invisible and cannot be deleted",
    async (bytes) => {
      const owner = await ownerWithRoom();
      const answer = await uploadPausing(owner, bytes, async () => {
        expect((await owner.api.get(`/files?roomId=${owner.roomId}`)).data.total).toBe(0);
        const row = await env.DB.prepare("SELECT key FROM files WHERE account_id = ?")
          .bind(owner.id)
          .first<{ key: string }>();
        expect((await owner.api.deleteFile(row?.key ?? "")).status).toBe(404);
        expect((await owner.api.raw("GET", `/storage/${row?.key}`)).status).toBe(404);
      });
      expect(answer.status).toBe(201);
      expect((await owner.api.get(`/files?roomId=${owner.roomId}`)).data.total).toBe(1);
    },
  );

  it.each([MEBIBYTE, 12 * MEBIBYTE])(
    "after %i bytes, deleting its room makes the upload fail",
    async (bytes) => {
      const owner = await ownerWithRoom();
      const answer = await uploadPausing(owner, bytes, () => owner.api.delete(`/rooms/${owner.roomId}`));
      expect([answer.status, answer.error?.code]).toEqual([404, "NOT_FOUND"]);
      expect(await remainsOf(owner)).toEqual([[], []]);
    },
  );

  it("deleting its uploader makes the upload fail", async () => {
    const owner = await ownerWithRoom();
    const answer = await uploadPausing(owner, MEBIBYTE, () =>
      owner.api.delete(`/users/${owner.userId}?roomId=${owner.roomId}`),
    );
    expect([answer.status, answer.error?.code]).toEqual([404, "NOT_FOUND"]);
    expect(await remainsOf(owner)).toEqual([[], []]);
  });

  it("closing its room lets the upload finish", async () => {
    const owner = await ownerWithRoom();
    const answer = await uploadPausing(owner, MEBIBYTE, () =>
      owner.api.patch(`/rooms/${owner.roomId}`, { state: "closed" }),
    );
    expect(answer.status).toBe(201);
  });

  it("garbage collection leaves it alone", async () => {
    const owner = await ownerWithRoom();
    const answer = await uploadPausing(owner, 12 * MEBIBYTE, () =>
      runScheduledTasks(env, Date.now() + MAX_UPLOAD_MS),
    );
    expect(answer.status).toBe(201);
    expect(await statesOf(owner.id)).toEqual(["stored"]);
  });

  it("garbage collection of an abandoned upload makes the upload fail", async () => {
    const owner = await ownerWithRoom();
    const answer = await uploadPausing(owner, 12 * MEBIBYTE, () =>
      runScheduledTasks(env, Date.now() + LATER),
    );
    expect(answer.success).toBe(false);
    await runScheduledTasks(env, Date.now() + LATER);
    expect(await remainsOf(owner)).toEqual([[], []]);
    expectLogged("The specified multipart upload does not exist");
  });

  // Its bytes were about to be deleted when it became visible: a file that could not be read.
  it("an upload that was marked for deletion meanwhile cannot be finished", async () => {
    const owner = await ownerWithRoom();
    const answer = await uploadPausing(owner, MEBIBYTE, async () => {
      await expect(collectGarbage(db, broken, Date.now() + LATER)).rejects.toThrow("R2");
      expect(await statesOf(owner.id)).toEqual(["deleting"]);
    });
    expect([answer.status, answer.error?.code]).toEqual([404, "NOT_FOUND"]);
    await runScheduledTasks(env, Date.now());
    expect(await remainsOf(owner)).toEqual([[], []]);
  });
});

describe("deleting a room", () => {
  it("deletes its files before it responds", async () => {
    const owner = await ownerWithRoom();
    const other = await owner.api.createRoom();
    const user = await owner.api.createUser(other.id);
    const kept = await store(owner.api, { roomId: other.id, userId: user.id }, textFile("kept"));
    const keys = [
      await store(owner.api, owner.fields, textFile("a")),
      await store(owner.api, owner.fields, new File([new Uint8Array(9 * MEBIBYTE)], "large")),
    ];
    expect((await owner.api.delete(`/rooms/${owner.roomId}`)).status).toBe(200);
    for (const key of keys) expect((await owner.api.raw("GET", `/storage/${key}`)).status).toBe(404);
    expect(await remainsOf(owner)).toEqual([["stored"], [`${owner.id}/${kept}`]]);
  });
});

describe("garbage collection", () => {
  it("finishes a deletion that a crash cut off", async () => {
    const owner = await ownerWithRoom();
    await store(owner.api, owner.fields, textFile());
    await env.DB.prepare("UPDATE files SET state = 'deleting' WHERE account_id = ?").bind(owner.id).run();
    await expect(collectGarbage(db, broken, Date.now())).rejects.toThrow("R2");
    expect(await statesOf(owner.id)).toEqual(["deleting"]);
    await runScheduledTasks(env, Date.now());
    expect(await remainsOf(owner)).toEqual([[], []]);
  });

  it("gives up uploads that crashes cut off in chunks, however many there are", async () => {
    const owner = await ownerWithRoom();
    await insertFiles(owner, 2 * MAX_DELETED + 500, { state: "uploading" });
    const batches = await batchesOf(() => collectGarbage(db, blobs, Date.now()));
    expect(await remainsOf(owner)).toEqual([[], []]);
    expect(Math.max(...batches.map(({ written }) => written))).toBeLessThan(5 * MAX_DELETED);
  });

  it("aborts no more uploads than its invocation may make calls, and goes on in the next run", async () => {
    const owner = await ownerWithRoom();
    const keyOf = (number: number) => `${owner.id}/${number}`;
    const rows = await Promise.all(
      Array.from({ length: MAX_DELETED + 500 }, async (_, number) => {
        const address = { accountId: owner.id, key: keyOf(number) };
        const upload = number % 10 === 0 ? await blobs.begin(address, "a/b") : null;
        return [address.key, upload?.uploadId ?? null];
      }),
    );
    await env.DB.prepare(
      `INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by, uploaded_at, state, upload_id)
       SELECT value ->> 0, ?, ?, 'f', 'a/b', 'a/b', 0, 'u', 1, 'deleting', value ->> 1 FROM json_each(?)`,
    )
      .bind(owner.id, owner.roomId, JSON.stringify(rows))
      .run();
    const run = async (calls: number) => {
      const budget = new WorkBudget(calls);
      await collectGarbage(db, blobs, Date.now(), { calls: budget, queries: budget });
      return (await statesOf(owner.id)).length;
    };
    expect(await run(5)).toBe(597);
    expect(await run(200)).toBe(0);
  });

  it("deletes the remains of an upload that a crash cut off, with or without bytes, after an hour", async () => {
    const owner = await ownerWithRoom();
    const [whole, parted] = [
      await store(owner.api, owner.fields, textFile()),
      await store(owner.api, owner.fields, textFile()),
    ];
    const { uploadId, add } = await blobs.begin({ accountId: owner.id, key: parted }, "a/b");
    await add(new Uint8Array(8 * MEBIBYTE));
    await env.DB.batch([
      env.DB.prepare("UPDATE files SET state = 'uploading' WHERE key = ?").bind(whole),
      env.DB.prepare("UPDATE files SET state = 'uploading', upload_id = ? WHERE key = ?").bind(
        uploadId,
        parted,
      ),
    ]);
    await runScheduledTasks(env, Date.now() + MAX_UPLOAD_MS);
    expect(await statesOf(owner.id)).toEqual(["uploading", "uploading"]);
    await runScheduledTasks(env, Date.now() + LATER);
    expect(await remainsOf(owner)).toEqual([[], []]);
    const aborted = env.FILES.resumeMultipartUpload(`${owner.id}/${parted}`, uploadId);
    await expect(aborted.uploadPart(2, new Uint8Array(1))).rejects.toThrow("does not exist");
  });

  it("leaves stored files alone", async () => {
    const owner = await ownerWithRoom();
    const key = await store(owner.api, owner.fields, textFile());
    await runScheduledTasks(env, Date.now() + 365 * 24 * LATER);
    expect(await remainsOf(owner)).toEqual([["stored"], [`${owner.id}/${key}`]]);
  });
});
