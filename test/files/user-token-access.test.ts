/** What a user's token may do with files, and how files are deleted. */
import { describe, expect, it } from "vitest";
import { refusalOf } from "../support/api.ts";
import { expectNothingLeft, ownerWithRoom, store, textFile } from "./upload-form.ts";

describe("a user", () => {
  it("uploads, lists and deletes files as themselves only", async () => {
    const owner = await ownerWithRoom();
    const ada = owner.api.as(owner.token);
    const bo = await owner.api.createUser(owner.roomId, { name: "Bo" });
    const key = await store(ada, owner.fields, textFile());
    const bosKey = await store(owner.api.as(bo.token), { roomId: owner.roomId, userId: bo.id }, textFile());
    expect((await ada.get(`/files?roomId=${owner.roomId}`)).data.total).toBe(2);
    const asBo = await ada.upload({ ...owner.fields, userId: bo.id }, textFile());
    expect([asBo.status, asBo.error?.code]).toEqual([403, "FORBIDDEN"]);
    const bosFile = await ada.deleteFile(bosKey);
    expect([bosFile.status, bosFile.error?.code]).toEqual([403, "FORBIDDEN"]);
    expect((await ada.deleteFile(key)).data).toEqual({ key });
    expect((await ada.get(`/files?roomId=${owner.roomId}`)).data.total).toBe(1);
  });

  it("uploads under an Idempotency-Key that another one uses too", async () => {
    const owner = await ownerWithRoom();
    const bo = await owner.api.createUser(owner.roomId, { name: "Bo" });
    const options = { headers: { "Idempotency-Key": "first-upload" } };
    const upload = (token: string, userId: string) =>
      owner.api.as(token).upload({ ...owner.fields, userId }, textFile(), options);
    const [adas, bos] = [await upload(owner.token, owner.fields.userId), await upload(bo.token, bo.id)];
    expect([adas.status, bos.status]).toEqual([201, 201]);
    expect(bos.headers.get("Idempotency-Replayed")).toBeNull();
    expect((await owner.api.get(`/files?roomId=${owner.roomId}`)).data.total).toBe(2);
  });

  it("who is a viewer only reads", async () => {
    const owner = await ownerWithRoom();
    const viewer = await owner.api.createUser(owner.roomId, { role: "viewer" });
    const api = owner.api.as(viewer.token);
    const key = await store(owner.api, { ...owner.fields, userId: viewer.id }, textFile());
    expect((await api.get(`/files?roomId=${owner.roomId}`)).data.total).toBe(1);
    for (const answer of [
      await api.upload({ ...owner.fields, userId: viewer.id }, textFile()),
      await api.deleteFile(key),
    ]) {
      expect([answer.status, answer.error?.code]).toEqual([403, "FORBIDDEN"]);
    }
    expect((await owner.api.deleteFile(key)).status).toBe(200);
  });

  it("neither deletes files of other rooms nor uploads there", async () => {
    const [owner, other] = [await ownerWithRoom(), await ownerWithRoom()];
    const room = await owner.api.createRoom();
    const user = await owner.api.createUser(room.id);
    const keys = [
      await store(owner.api, { roomId: room.id, userId: user.id }, textFile()),
      await store(other.api, other.fields, textFile()),
      `${crypto.randomUUID()}/${"x".repeat(22)}/uploads/none`,
    ];
    for (const key of keys) {
      const answer = await owner.api.as(owner.token).deleteFile(key);
      expect(refusalOf(answer)).toEqual([403, "Auth", "FORBIDDEN"]);
    }
    const there = { roomId: room.id, userId: user.id };
    const uploaded = await owner.api.as(owner.token).upload(there, textFile());
    expect(refusalOf(uploaded)).toEqual([403, "Auth", "FORBIDDEN"]);
  });
});

describe("deleting a file", () => {
  it("succeeds for one of many requests at once and leaves nothing behind", async () => {
    const owner = await ownerWithRoom();
    const key = await store(owner.api, owner.fields, textFile());
    const answers = await Promise.all(Array.from({ length: 10 }, () => owner.api.deleteFile(key)));
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, ...Array(9).fill(404)]);
    expect((await owner.api.raw("GET", `/storage/${key}`)).status).toBe(404);
    await expectNothingLeft(owner);
  });

  it.each(["no key", "a/b/uploads/c", "../../x", "x".repeat(1024)])("of %j finds nothing", async (key) => {
    const { api } = await ownerWithRoom();
    const answer = await api.deleteFile(key);
    expect([answer.status, answer.error?.module]).toEqual([404, "Files"]);
  });
});
