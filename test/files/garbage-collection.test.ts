/** Whatever ends an upload or a file, and wherever it is cut off, in the end neither row nor bytes are left. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type Blobs, MAX_REMOVED } from "../../src/files/blobs.ts";
import { collectGarbage, MAX_UPLOAD_MS } from "../../src/files/garbage-collection.ts";
import { runScheduledTasks } from "../../src/scheduled.ts";
import {
  BOUNDARY,
  blobs,
  db,
  END,
  type Furnished,
  field,
  furnished,
  MEBIBYTE,
  objectsOf,
  part,
  sendForm,
  statesOf,
  store,
  textFile,
} from "./upload-form.ts";

const LATER = 2 * MAX_UPLOAD_MS + 60_000;

const leftOf = async ({ id }: Furnished) => [await statesOf(id), await objectsOf(id)];

/** An upload whose file pauses, after `bytes` of it, until `meanwhile` is done. */
async function uploadPausing(owner: Furnished, bytes: number, meanwhile: () => Promise<unknown>) {
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
        await until(async () => (await statesOf(owner.id)).includes("arriving"));
        await meanwhile();
        controller.enqueue(encoder.encode("the end"));
      } else controller.enqueue(piece);
    },
  });
  return sendForm(owner.api, body, `multipart/form-data; boundary=${BOUNDARY}`);
}

/** Asks until it is so; the test's own deadline ends what never is. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await scheduler.wait(1);
}

describe("while a file arrives", () => {
  it.each([MEBIBYTE, 12 * MEBIBYTE])(
    "after %i bytes, it is not shown and cannot be deleted",
    async (bytes) => {
      const owner = await furnished();
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

  it.each([MEBIBYTE, 12 * MEBIBYTE])("after %i bytes, deleting its room wins", async (bytes) => {
    const owner = await furnished();
    const answer = await uploadPausing(owner, bytes, () => owner.api.delete(`/rooms/${owner.roomId}`));
    expect([answer.status, answer.error?.code]).toEqual([404, "NOT_FOUND"]);
    expect(await leftOf(owner)).toEqual([[], []]);
  });

  it("deleting its uploader wins", async () => {
    const owner = await furnished();
    const answer = await uploadPausing(owner, MEBIBYTE, () =>
      owner.api.delete(`/users/${owner.userId}?roomId=${owner.roomId}`),
    );
    expect([answer.status, answer.error?.code]).toEqual([404, "NOT_FOUND"]);
    expect(await leftOf(owner)).toEqual([[], []]);
  });

  it("closing its room does not stop it", async () => {
    const owner = await furnished();
    const answer = await uploadPausing(owner, MEBIBYTE, () =>
      owner.api.patch(`/rooms/${owner.roomId}`, { state: "closed" }),
    );
    expect(answer.status).toBe(201);
  });

  it("no sweep disturbs it", async () => {
    const owner = await furnished();
    const answer = await uploadPausing(owner, 12 * MEBIBYTE, () =>
      runScheduledTasks(env, Date.now() + MAX_UPLOAD_MS),
    );
    expect(answer.status).toBe(201);
    expect(await statesOf(owner.id)).toEqual(["stored"]);
  });

  it("a sweep that takes it for lost wins", async () => {
    const owner = await furnished();
    const answer = await uploadPausing(owner, 12 * MEBIBYTE, () =>
      runScheduledTasks(env, Date.now() + LATER),
    );
    expect(answer.success).toBe(false);
    await runScheduledTasks(env, Date.now() + LATER);
    expect(await leftOf(owner)).toEqual([[], []]);
  });
});

describe("deleting a room", () => {
  it("removes its files, and they cannot be read any more when it is answered", async () => {
    const owner = await furnished();
    const other = await owner.api.createRoom();
    const user = await owner.api.createUser(other.id);
    const kept = await store(owner.api, { roomId: other.id, userId: user.id }, textFile("kept"));
    const keys = [
      await store(owner.api, owner.fields, textFile("a")),
      await store(owner.api, owner.fields, new File([new Uint8Array(9 * MEBIBYTE)], "large")),
    ];
    expect((await owner.api.delete(`/rooms/${owner.roomId}`)).status).toBe(200);
    for (const key of keys) expect((await owner.api.raw("GET", `/storage/${key}`)).status).toBe(404);
    expect(await leftOf(owner)).toEqual([["stored"], [`${owner.id}/${kept}`]]);
  });

  it("removes more files than one call of R2 takes", async () => {
    const owner = await furnished();
    const count = 2 * MAX_REMOVED + 1;
    await env.DB.prepare(
      `INSERT INTO files (key, account_id, room_id, filename, mime_type, media_type, size, uploaded_by, uploaded_at, state)
       SELECT ?1 || '/' || printf('%022d', value) || '/uploads/a', ?2, ?1, 'a', 'a/b', 'a/b', 1, ?3, 1, 'stored'
       FROM json_each(?4)`,
    )
      .bind(
        owner.roomId,
        owner.id,
        owner.userId,
        JSON.stringify(Array.from({ length: count }, (_, index) => index)),
      )
      .run();
    expect((await owner.api.get(`/files?roomId=${owner.roomId}`)).data.total).toBe(count);
    await owner.api.delete(`/rooms/${owner.roomId}`);
    await until(async () => (await statesOf(owner.id)).length === 0);
  });
});

describe("a sweep", () => {
  /** R2 that is not there. */
  const broken: Blobs = new Proxy(blobs, {
    get: () => async () => {
      throw new Error("R2 cannot be reached");
    },
  });

  it("removes what a crash left of a deletion", async () => {
    const owner = await furnished();
    await store(owner.api, owner.fields, textFile());
    await env.DB.prepare("UPDATE files SET state = 'doomed' WHERE account_id = ?").bind(owner.id).run();
    await expect(collectGarbage(db, broken, Date.now())).rejects.toThrow("R2");
    expect(await statesOf(owner.id)).toEqual(["doomed"]);
    await runScheduledTasks(env, Date.now());
    expect(await leftOf(owner)).toEqual([[], []]);
  });

  it("removes what a crash left of an upload, its bytes there or not, after an hour", async () => {
    const owner = await furnished();
    const [whole, parted] = [
      await store(owner.api, owner.fields, textFile()),
      await store(owner.api, owner.fields, textFile()),
    ];
    const { uploadId, add } = await blobs.begin({ accountId: owner.id, key: parted }, "a/b");
    await add(new Uint8Array(8 * MEBIBYTE));
    await env.DB.batch([
      env.DB.prepare("UPDATE files SET state = 'arriving' WHERE key = ?").bind(whole),
      env.DB.prepare("UPDATE files SET state = 'arriving', upload_id = ? WHERE key = ?").bind(
        uploadId,
        parted,
      ),
    ]);
    await runScheduledTasks(env, Date.now() + MAX_UPLOAD_MS);
    expect(await statesOf(owner.id)).toEqual(["arriving", "arriving"]);
    await runScheduledTasks(env, Date.now() + LATER);
    expect(await leftOf(owner)).toEqual([[], []]);
    const aborted = env.FILES.resumeMultipartUpload(`${owner.id}/${parted}`, uploadId);
    await expect(aborted.uploadPart(2, new Uint8Array(1))).rejects.toThrow("does not exist");
  });

  it("leaves all that is stored", async () => {
    const owner = await furnished();
    const key = await store(owner.api, owner.fields, textFile());
    await runScheduledTasks(env, Date.now() + 365 * 24 * LATER);
    expect(await leftOf(owner)).toEqual([["stored"], [`${owner.id}/${key}`]]);
  });
});
