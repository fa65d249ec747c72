/** What is kept on the device survives crashes at any moment, is sent once, and catches up, in a room in memory. */
import fc from "fast-check";
import { describe, inject, it } from "vitest";
import { type OfflineStep, offlineScenario, runOffline } from "./model/offline-scenario.ts";

const { seed, inMemory } = inject("endurance");

it("no kept write is lost or made twice, and all stores agree, whenever pages crash", async () => {
  await fc.assert(fc.asyncProperty(offlineScenario, runOffline), { seed, numRuns: inMemory });
});

type Tab = 0 | 1 | 2;
const write = (page: Tab, key: "a" | "b"): OfflineStep[] => [
  { type: "set", page, key },
  { type: "store", page, count: 4 },
];

describe("a batch with writes of two pages, whose page ends before the answer,", () => {
  /** A page with unsent writes comes online, and ends when the room has carried out its batch. */
  const sendAndCrash = (page: Tab): OfflineStep[] => [
    { type: "wait", page },
    { type: "up", page, count: 4 },
    { type: "down", page, count: 4 },
    { type: "store", page, count: 4 },
    { type: "up", page, count: 4 },
    { type: "crash", page },
  ];
  const others: OfflineStep[] = [
    { type: "organization", key: "a" },
    { type: "organization", key: "b" },
  ];

  it("runs once when the same tab is reloaded twice", async () => {
    await runOffline([
      ...write(2, "a"),
      { type: "crash", page: 2 },
      { type: "offline", page: 2 },
      ...write(2, "b"),
      ...sendAndCrash(2),
      ...others,
    ]);
  });

  it("runs once when another tab has adopted the first write", async () => {
    await runOffline([
      { type: "wait", page: 1 },
      { type: "offline", page: 0 },
      { type: "offline", page: 1 },
      ...write(0, "a"),
      { type: "crash", page: 0 },
      ...write(1, "b"),
      ...sendAndCrash(1),
      ...others,
    ]);
  });
});

it("a write of a page that is closed before its batch is kept is sent by the next page alone", async () => {
  await runOffline([
    { type: "offline", page: 2 },
    ...write(2, "a"),
    { type: "close", page: 2 },
    { type: "organization", key: "a" },
  ]);
});
