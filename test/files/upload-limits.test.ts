/** Uploads retried with an Idempotency-Key: stored once, with the same response. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { BlobWriter, PART_BYTES, UploadMemory } from "../../src/features/files/blob-writer.ts";
import { MEBIBYTE, objectsOf, ownerWithRoom, statesOf, textFile } from "./upload-form.ts";

describe("an Idempotency-Key", () => {
  const options = { headers: { "Idempotency-Key": "k" } };

  it("repeats the response and stores one file, even if the form's boundary differs", async () => {
    const owner = await ownerWithRoom();
    const first = await owner.api.upload(owner.fields, textFile(), options);
    const second = await owner.api.upload(owner.fields, textFile(), options);
    expect([second.status, second.headers.get("Idempotency-Replayed")]).toEqual([201, "true"]);
    expect(second.data).toEqual(first.data);
    expect([await statesOf(owner.id), (await objectsOf(owner.id)).length]).toEqual([["stored"], 1]);
  });

  it("does the work once when many requests arrive at once", async () => {
    const owner = await ownerWithRoom();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.api.upload(owner.fields, textFile(), options)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect(new Set(answers.map(({ data }) => data.file.key)).size).toBe(1);
    expect([await statesOf(owner.id), (await objectsOf(owner.id)).length]).toEqual([["stored"], 1]);
  });

  it("rejects another file, name, type or user under the same key", async () => {
    const owner = await ownerWithRoom();
    const other = await owner.api.createUser(owner.roomId);
    await owner.api.upload(owner.fields, textFile(), options);
    for (const answer of [
      await owner.api.upload(owner.fields, textFile("a.txt", "Hallo"), options),
      await owner.api.upload(owner.fields, textFile("b.txt"), options),
      await owner.api.upload(owner.fields, textFile("a.txt", "Hello", "text/html"), options),
      await owner.api.upload({ ...owner.fields, userId: other.id }, textFile(), options),
    ]) {
      expect([answer.status, answer.error?.code]).toEqual([409, "CONFLICT"]);
    }
    expect([await statesOf(owner.id), (await objectsOf(owner.id)).length]).toEqual([["stored"], 1]);
  });

  it("replays large files too, without storing them again", async () => {
    const owner = await ownerWithRoom();
    const large = () => new File([new Uint8Array(12 * MEBIBYTE)], "large");
    const first = await owner.api.upload(owner.fields, large(), options);
    await env.DB.prepare("UPDATE rooms SET state = 'closed' WHERE id = ?").bind(owner.roomId).run();
    expect((await owner.api.upload(owner.fields, large(), options)).data).toEqual(first.data);
    expect((await objectsOf(owner.id)).length).toBe(1);
  });
});

// What uploads in flight hold in memory: by bytes, whatever their number.

const KIB = 1024;
const MAX_FILE = 100 * KIB * KIB;

/** An upload that counts the bytes which arrive in R2's place. */
function openUpload() {
  const received: number[] = [];
  const writer = new BlobWriter(
    {
      put: async (bytes) => void received.push(bytes.byteLength),
      begin: async () => ({
        uploadId: "upload",
        add: async (part) => void received.push(part.byteLength),
        complete: async () => undefined,
      }),
    },
    MAX_FILE,
  );
  return { writer, received };
}

it("a slow upload holds what it has sent, and gives way to faster ones when memory is short", async () => {
  const slow = openUpload();
  await slow.writer.write(new Uint8Array(KIB));
  const fast = Array.from({ length: 8 }, openUpload);
  for (const { writer } of fast) await writer.write(new Uint8Array(PART_BYTES));
  await expect(slow.writer.write(new Uint8Array(KIB))).rejects.toMatchObject({ code: "RATE_LIMITED" });
  await expect(slow.writer.finish()).rejects.toMatchObject({ code: "RATE_LIMITED" });
  for (const { writer, received } of fast) {
    await writer.write(new Uint8Array(KIB));
    expect(await writer.finish()).toBe(PART_BYTES + KIB);
    expect(received).toEqual([PART_BYTES, KIB]);
  }
});

it("a hundred slow uploads leave room for others", async () => {
  const slow = Array.from({ length: 100 }, openUpload);
  for (const { writer } of slow) await writer.write(new Uint8Array(KIB));
  const other = openUpload();
  for (let part = 0; part < 3; part += 1) await other.writer.write(new Uint8Array(PART_BYTES));
  expect(await other.writer.finish()).toBe(3 * PART_BYTES);
  for (const { writer } of slow) expect(await writer.finish()).toBe(KIB);
});

it("the part that has been filling the longest gives way first, and never the one that grows", () => {
  const memory = new UploadMemory(100);
  const gone: string[] = [];
  const holder = (name: string) => ({ giveWay: () => void gone.push(name) });
  const [first, second, third] = [holder("first"), holder("second"), holder("third")];
  memory.grow(first, 40);
  memory.grow(second, 40);
  memory.release(first);
  memory.grow(first, 40);
  memory.grow(third, 40);
  expect(gone).toEqual(["second"]);
  memory.grow(third, 300);
  expect(gone).toEqual(["second", "first"]);
});
