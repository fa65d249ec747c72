/** Restores that are given up, wherever they were interrupted. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { account } from "../support/api.ts";
import { addMember } from "../support/person.ts";
import { answersOf, expectFiles, furnish, purged, remainsOf, remove, withoutUse } from "./furnished.ts";
import { backUp, cancel, type KillPoint, restore } from "./operator.ts";

/** More than an answer with slices of objects has. */
const VALUES = 26;
const VALUE = "v".repeat(180 * 1024);

/** So that objects are opened by more than one request. */
const MORE_ROOMS = 12;

const KILLED: readonly KillPoint[] = [
  ["rows", 0],
  ["rows", 9],
  ["file", 1],
  ["part", 0],
  ["objects", 0],
  ["objects", 1],
  ["open", 1],
  ["finish", 0],
];

describe("a restore that is cancelled", () => {
  it.each(["DB", "DB_2"] as const)(
    "in %s leaves nothing behind, wherever it was, and the next one brings everything back",
    async (place) => {
      const owner = await account(place);
      await addMember(owner.id, "owner");
      const furnished = await furnish(owner, place);
      for (let key = 0; key < VALUES; key += 1)
        await owner.api.put(`/rooms/${furnished.roomId}/stores/large/${key}`, { value: VALUE });
      for (let room = 0; room < MORE_ROOMS; room += 1) await owner.api.createRoom();
      const answers = await answersOf(owner, furnished);
      const archive = await backUp(owner.id);
      expect(archive.parts.get("objects")?.length).toBeGreaterThan(1);
      await remove(owner, place);
      for (const killed of KILLED) {
        const uploads: string[] = [];
        expect([killed, await restore(archive, killed, place, uploads)]).toEqual([killed, false]);
        await cancel(archive);
        await purged(owner.id, place);
        expect([killed, await remainsOf(archive)]).toEqual([killed, {}]);
        for (const upload of uploads) {
          const [name = "", uploadId = ""] = upload.split(" ");
          const part = env.FILES.resumeMultipartUpload(name, uploadId).uploadPart(2, new Uint8Array(1));
          await expect(part).rejects.toThrow();
        }
      }
      expect(await restore(archive, undefined, place)).toBe(true);
      expect(withoutUse(await answersOf(owner, furnished))).toEqual(withoutUse(answers));
      await expectFiles(owner, archive);
    },
  );
});
