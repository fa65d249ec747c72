/** What the dashboard reads: the field that a refusal concerns, and the fields that a draft kept. */
import { describe, expect, it } from "vitest";
import { readRefusal } from "../../src/dashboard/page/data/refusal.ts";
import { readFields, writeFields } from "../../src/dashboard/page/workflows/draft-fields.ts";

describe("a refusal", () => {
  it.each([
    ["url: must begin with https://", { field: "url", problem: "Must begin with https://" }],
    ["schedule.cron: must have five fields", { field: "schedule.cron", problem: "Must have five fields" }],
    ["name is required", { field: "name", problem: "name is required" }],
    [
      "customId is already used by another room of the organization",
      { field: "customId", problem: "customId is already used by another room of the organization" },
    ],
  ])("names its field first: %s", (message, problem) => {
    expect(readRefusal(message)).toEqual(problem);
  });

  it("begins otherwise where it concerns no field", () => {
    expect(readRefusal("")).toBe(null);
  });
});

describe("the fields of a workflow that are not saved", () => {
  it("are the same text in whatever order its events were chosen, and read back", () => {
    const schedule = { cron: "0 9 * * *", timezone: "UTC" };
    const starts = { events: ["user.updated", "user.created"] as const, schedule, httpTrigger: true };
    const fields = { name: "A", ...starts, roomId: null, retries: 2 };
    const text = writeFields({ ...fields, events: [...fields.events] });
    expect(text).toBe(writeFields({ ...fields, events: [...fields.events].reverse() }));
    expect(readFields(text)).toEqual({ ...fields, events: ["user.created", "user.updated"] });
  });

  it("are empty where something else was kept", () => {
    for (const text of [
      "",
      "null",
      "[1]",
      '{"name":1,"events":["nothing"],"roomId":2,"schedule":{"cron":1}}',
    ])
      expect(readFields(text)).toEqual({
        ...{ name: "", events: [], roomId: null, retries: 0 },
        ...{ schedule: null, httpTrigger: false },
      });
  });
});
