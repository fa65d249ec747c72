/** What uploads in flight hold in memory: by bytes, whatever their number. */
import { expect, it } from "vitest";
import { BlobWriter, PART_BYTES, UploadMemory } from "../../src/features/files/blob-writer.ts";

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
