/** The texts of a suggested change, as the component shows them. */
import type { SuggestedPart } from "atrium/documents";
import { expect, it } from "vitest";
import { shownTexts } from "../../../packages/sdk/react-ui/suggested-text.ts";

const partOf = (fields: Partial<SuggestedPart>): SuggestedPart => ({
  ...{ id: "1-0", kind: "replace", state: "pending", root: "default", path: [] },
  ...{ before: null, after: null, context: { before: "", after: "" } },
  ...fields,
});

it.each([
  ["a word with a format", "the <bold>big</bold> tea", "the big tea"],
  ["blocks", '<paragraph>One</paragraph><heading level="2">Two</heading>', "One\nTwo"],
  ["a split block", " end</paragraph><paragraph>Next", " end\nNext"],
  [
    "blocks within others",
    '<blockgroup><blockcontainer id="1"><paragraph>One</paragraph></blockcontainer></blockgroup>',
    "One",
  ],
])("shows %s without tags", (_, after, shown) => {
  expect(shownTexts(partOf({ after }), "xml")).toMatchObject({ before: "", after: shown });
});

it("shows tags where only those differ, and those of a plain text", () => {
  const format = partOf({ kind: "format", before: "tea", after: "<bold>t</bold><bold>ea</bold>" });
  expect(shownTexts(format, "xml").after).toBe("<bold>tea</bold>");
  expect(shownTexts(partOf({ after: "a <b> c" }), "text").after).toBe("a <b> c");
});

it("shows the lines around the change, and where they are cut", () => {
  const contextOf = (before: string, after: string) =>
    shownTexts(partOf({ context: { before, after } }), "xml").context;
  expect(contextOf("One\nTwo ", " three\nFour")).toEqual({ before: "Two ", after: " three" });
  expect(contextOf("One\nTwo\n", "\nFour\nFive")).toEqual({ before: "Two\n", after: "\nFour" });
  const long = "x".repeat(40);
  expect(contextOf(long, long)).toEqual({ before: `…${long}`, after: `${long}…` });
});
