/** The order of a room's documents. */
import { expect, it } from "vitest";
import { sortDocuments } from "../../src/dashboard/page/documents/sort-documents.ts";

const document = (name: string, bytes: number) => ({
  ...{ name, bytes, seq: 1, participants: 0, participant_ids: [] },
  ...{ created_at: "2026-01-31T09:45:00.000Z", updated_at: "2026-01-31T09:45:00.000Z" },
});
const DOCUMENTS = [document("b", 10), document("a", 9), document("c", 100)];
const namesBy = (sort: string): string =>
  sortDocuments(DOCUMENTS, sort)
    .map(({ name }) => name)
    .join("");

it("is by any of the fields, up or down, and their own order for none", () => {
  expect(namesBy("name")).toBe("abc");
  expect(namesBy("-bytes")).toBe("cba");
  expect([namesBy(""), namesBy("-unknown")]).toEqual(["bac", "bac"]);
});
