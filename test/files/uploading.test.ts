/** Uploads: what a form must hold, and that a refused one leaves nothing. */

import { MAX_FILE_BYTES } from "@atrium/contract/resources/file.ts";
import { describe, expect, it } from "vitest";
import { formOf, refusalOf } from "../support/api.ts";
import {
  END,
  expectNothingLeft,
  field,
  MEBIBYTE,
  type OwnerWithRoom,
  onlyFile,
  ownerWithRoom,
  part,
  sendForm,
  statesOf,
  store,
  textFile,
} from "./upload-form.ts";

const fieldsOf = ({ roomId, userId }: OwnerWithRoom) => field("roomId", roomId) + field("userId", userId);
const filePart = (disposition = 'name="file"; filename="a.txt"') =>
  part(disposition, "Hello", "Content-Type: text/plain\r\n");

describe("an upload", () => {
  it("returns a key and a URL, and the file can be listed and read", async () => {
    const owner = await ownerWithRoom();
    const { api, roomId, userId, id } = owner;
    const answer = await api.upload(owner.fields, textFile("plan ä.txt"));
    expect([answer.status, answer.description]).toEqual([201, "File uploaded"]);
    const { key, url } = answer.data.file;
    expect(key).toMatch(new RegExp(`^${roomId}/[A-Za-z0-9_-]{22}/uploads/plan ä\\.txt$`));
    expect(new URL(url).pathname).toBe(
      `/v1/accounts/${id}/storage/${key.replace("plan ä.txt", "plan%20%C3%A4.txt")}`,
    );
    expect(await onlyFile(owner)).toEqual({
      key,
      url,
      filename: "plan ä.txt",
      mimeType: "text/plain",
      size: 5,
      uploadedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      uploadedBy: userId,
    });
    expect(await (await api.raw("GET", new URL(url).pathname)).text()).toBe("Hello");
  });

  it("of the same name twice stores two files", async () => {
    const { api, fields } = await ownerWithRoom();
    const keys = [await store(api, fields, textFile("a", "1")), await store(api, fields, textFile("a", "2"))];
    expect(new Set(keys).size).toBe(2);
    const contents = keys.map(async (key) => (await api.raw("GET", `/storage/${key}`)).text());
    expect(await Promise.all(contents)).toEqual(["1", "2"]);
  });

  it.each([0, 1, 65_535, 65_536, 65_537, 8 * MEBIBYTE - 1, 8 * MEBIBYTE, 8 * MEBIBYTE + 1, 20 * MEBIBYTE])(
    "of %i bytes is stored byte by byte",
    async (size) => {
      const owner = await ownerWithRoom();
      const bytes = new Uint8Array(size).map((_, index) => (index * 31 + (index >> 8)) & 255);
      const key = await store(owner.api, owner.fields, new File([bytes], "bytes"));
      expect((await onlyFile(owner)).size).toBe(size);
      const answer = await owner.api.raw("GET", `/storage/${key}`);
      expect(answer.headers.get("Content-Length")).toBe(String(size));
      const read = new Uint8Array(await answer.arrayBuffer());
      expect(read.byteLength).toBe(size);
      expect(read.findIndex((byte, index) => byte !== bytes[index])).toBe(-1);
    },
  );

  it("may have its fields after a file of up to 8 MiB, but not after a larger one", async () => {
    const owner = await ownerWithRoom();
    const send = (size: number) => {
      const form = formOf({}, new File([new Uint8Array(size)], "late"));
      for (const [name, value] of Object.entries(owner.fields)) form.append(name, value);
      return owner.api.send("POST", "/upload", { body: form });
    };
    expect((await send(8 * MEBIBYTE)).status).toBe(201);
    const answer = await send(8 * MEBIBYTE + 1);
    expect([answer.status, answer.error?.code]).toEqual([400, "BAD_REQUEST"]);
    expect(answer.error?.message).toBe(
      "roomId and userId must come before a file of more than 8 MiB in the form",
    );
    expect(await statesOf(owner.id)).toEqual(["stored"]);
  });

  it.each([
    ["__proto__", field("__proto__", "x")],
    ["constructor", field("constructor", "x")],
    ["note", field("note", "x")],
    ["picture", part('name="picture"; filename=""', "", "Content-Type: application/octet-stream\r\n")],
  ])("with an unknown field is refused, also after the file: %s", async (name, unknown) => {
    const owner = await ownerWithRoom();
    for (const form of [unknown + fieldsOf(owner) + filePart(), fieldsOf(owner) + filePart() + unknown]) {
      const { status, error } = await sendForm(owner.api, form + END);
      expect([status, error?.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(error?.message).toContain(name);
    }
  });

  it("of an unknown, missing or malformed type is stored as application/octet-stream", async () => {
    const owner = await ownerWithRoom();
    for (const header of [
      "",
      "Content-Type: nonsense\r\n",
      "Content-Type: text/html; charset=utf-7\tx\r\n",
    ]) {
      const file = part('name="file"; filename="a"', "x", header);
      const answer = await sendForm(owner.api, fieldsOf(owner) + file + END);
      expect(answer.status).toBe(201);
      expect((await onlyFile(owner)).mimeType).toBe("application/octet-stream");
      await owner.api.deleteFile(answer.data.file.key);
    }
  });

  it.each([
    ['filename="../../etc/passwd"', "passwd"],
    ['filename="a%0D%0ASet-Cookie: x=1.txt"', "aSet-Cookie: x=1.txt"],
    ["filename*=UTF-8''%E2%82%AC%2F%00%20rates.txt", "rates.txt"],
    ['filename="100%.txt"', "100%.txt"],
    ['filename="a?b#c&d=e+f.txt"', "a?b#c&d=e+f.txt"],
    ['filename="%2e%2e"', "%2e%2e"],
    [`filename="${"😀".repeat(300)}.png"`, `${"😀".repeat(62)}.png`],
  ])("with %s is called %j, everywhere", async (said, filename) => {
    const owner = await ownerWithRoom();
    const answer = await sendForm(owner.api, `${fieldsOf(owner)}${filePart(`name="file"; ${said}`)}${END}`);
    expect(answer.status, answer.error?.message).toBe(201);
    const { key, url } = await onlyFile(owner);
    expect(answer.data.file).toEqual({ key, url });
    expect([(await onlyFile(owner)).filename, key.split("/uploads/")[1]]).toEqual([filename, filename]);
    for (const address of [new URL(url).pathname, `/storage/${encodeURIComponent(key)}`]) {
      const read = await owner.api.raw("GET", address);
      expect([read.status, await read.text()]).toEqual([200, "Hello"]);
    }
    expect((await owner.api.deleteFile(key)).status).toBe(200);
    await expectNothingLeft(owner);
  });
});

describe("an upload is refused, and leaves nothing,", () => {
  async function expectRefused(bodyOf: (fields: string) => string, code: string, reason: string) {
    const owner = await ownerWithRoom();
    const answer = await sendForm(owner.api, bodyOf(fieldsOf(owner)));
    expect(refusalOf(answer)).toEqual([400, "Files", code]);
    expect(answer.error?.message).toContain(reason);
    await expectNothingLeft(owner);
  }

  const named = (disposition: string) => (all: string) => all + filePart(disposition) + END;

  it.each<[reason: string, bodyOf: (all: string) => string]>([
    ["file is required", (all) => all + END],
    ["file must be sent only once", (all) => all + filePart() + filePart() + END],
    ["file must be the name of the form part", (all) => named('name="x"; filename="b"')(all + filePart())],
    ["file must be the name of the form part", named('name="upload"; filename="b.txt"')],
    ["file must have a filename that is not empty", named('name="file"; filename=""')],
    ["file must have a filename that is not empty", named('name="file"; filename=".."')],
    ["file must have a filename in its form part", (all) => all + field("file", "Hello") + END],
    ["roomId must be sent only once", (all) => all + field("roomId", "x") + filePart() + END],
    ["userId must be sent only once", (all) => all + filePart() + field("userId", "x") + END],
    ["roomId is required; userId is required", () => filePart() + END],
    ["roomId", () => field("roomId", "") + field("userId", "x") + filePart() + END],
    ["roomId", () => field("roomId", "a\0") + field("userId", "x") + filePart() + END],
    ["note", (all) => field("note", "x".repeat(8193)) + all + filePart() + END],
  ])("where the answer says: %s (case %#)", (reason, bodyOf) =>
    expectRefused(bodyOf, "VALIDATION_ERROR", reason),
  );

  it("that breaks off in the file", () =>
    expectRefused((all) => all + filePart().slice(0, -4), "BAD_REQUEST", "is incomplete"));

  it("with a field that is not UTF-8", async () => {
    const owner = await ownerWithRoom();
    const [before, after] = field("roomId", "|").split("|");
    const body = new Blob([before ?? "", new Uint8Array([0xff, 0xfe]), after ?? "", filePart(), END]);
    const answer = await sendForm(owner.api, body);
    expect([answer.status, answer.error?.code]).toEqual([400, "BAD_REQUEST"]);
    expect(answer.error?.message).toContain("UTF-8");
  });

  it("over 100 MiB, with or without a Content-Length", async () => {
    const owner = await ownerWithRoom();
    const endless = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(fieldsOf(owner) + filePart().slice(0, -2)));
      },
      pull(controller) {
        controller.enqueue(new Uint8Array(MEBIBYTE));
      },
    });
    const announced = formOf(owner.fields, new File([new Uint8Array(MAX_FILE_BYTES + 1)], "large"));
    for (const body of [endless, announced]) {
      const answer =
        body === endless
          ? await sendForm(owner.api, body)
          : await owner.api.send("POST", "/upload", { body });
      expect(refusalOf(answer)).toEqual([400, "Files", "BAD_REQUEST"]);
      expect(answer.error?.message).toContain("104857600 bytes (100 MiB)");
    }
    await expectNothingLeft(owner);
  });

  it("to an unknown room or from an unknown user", async () => {
    const owner = await ownerWithRoom();
    const other = await owner.api.createRoom();
    const answers = [
      await owner.api.upload({ ...owner.fields, roomId: crypto.randomUUID() }, textFile()),
      await owner.api.upload({ ...owner.fields, userId: crypto.randomUUID() }, textFile()),
      await owner.api.upload({ ...owner.fields, roomId: other.id }, textFile()),
    ];
    expect(answers.map(({ status, error }) => [status, error?.module, error?.message])).toEqual([
      [404, "Rooms", "Room not found"],
      [404, "Users", "User not found"],
      [404, "Users", "User not found"],
    ]);
    await expectNothingLeft(owner);
  });

  it("to a closed room, until it is open again", async () => {
    const owner = await ownerWithRoom();
    await owner.api.patch(`/rooms/${owner.roomId}`, { state: "closed" });
    const answer = await owner.api.upload(owner.fields, textFile());
    expect([answer.status, answer.error?.code]).toEqual([403, "FORBIDDEN"]);
    await expectNothingLeft(owner);
    await owner.api.patch(`/rooms/${owner.roomId}`, { state: "active" });
    expect((await owner.api.upload(owner.fields, textFile())).status).toBe(201);
  });
});
