/** Uploads retried with an Idempotency-Key: stored once, with the same response. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
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
