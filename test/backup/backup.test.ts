/** Backups of an organization, and restores that are interrupted after any request. */
import { describe, expect, it } from "vitest";
import journal from "../../migrations/meta/_journal.json" with { type: "json" };
import { SCHEMA } from "../../src/backup/format.ts";
import { account } from "../support/api.ts";
import { addMember } from "../support/person.ts";
import { answersOf, contentOf, expectFiles, furnish, remove, withoutUse } from "./furnished.ts";
import { backUp, restore } from "./operator.ts";

describe("a backup", () => {
  it("names the schema that its rows have", () => {
    expect(SCHEMA).toBe(journal.entries.at(-1)?.idx);
  });

  it.each([
    ["DB", "in one run", 1_000],
    ["DB_2", "however often its restore is killed", 1],
  ] as const)("in %s brings a deleted organization back, %s", async (place, _, first) => {
    const owner = await account(place);
    await addMember(owner.id, "owner");
    const furnished = await furnish(owner, place);
    const [content, answers] = [await contentOf(place, owner.id), await answersOf(owner, furnished)];
    const archive = await backUp(owner.id);
    expect(await restore(archive).catch(String)).toContain("CONFLICT: The organization exists");
    await remove(owner, place);

    let run: number = first;
    while (!(await restore(archive, run, place))) {
      if (run === 2) {
        expect(await owner.api.get("/rooms")).toMatchObject({
          status: 429,
          error: { code: "RATE_LIMITED" },
        });
        const asUser = owner.api.as(furnished.token);
        expect(await asUser.get(`/users?roomId=${furnished.roomId}`)).toMatchObject({ status: 429 });
      }
      run += 1;
    }
    expect(run).toBeGreaterThan(5);
    expect(await contentOf(place, owner.id)).toEqual({
      ...content,
      "accounts id = ?": [expect.objectContaining({ id: owner.id, token_epoch: 0, deleted_at: null })],
    });
    expect(withoutUse(await answersOf(owner, furnished))).toEqual(withoutUse(answers));
    await expectFiles(owner, archive);
    const again = await owner.api.post(
      "/rooms",
      { name: "Retried" },
      { headers: { "Idempotency-Key": "once" } },
    );
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect((await owner.api.as(furnished.token).get(`/users?roomId=${furnished.roomId}`)).status).toBe(200);
    expect((await owner.api.get("/audit")).data).toMatchObject({
      entries: expect.arrayContaining([
        expect.objectContaining({ operation: "restoreOrganization" }),
        expect.objectContaining({ operation: "createWebhook" }),
      ]),
    });
  });
});
