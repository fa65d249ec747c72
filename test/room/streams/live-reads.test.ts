/** Readers of one source are served in turns, and none is passed over. */
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { LiveReads } from "../../../src/room/streams/live-reads.ts";

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

function openReads(count: number) {
  const reads = new LiveReads(() => {});
  const served: number[] = [];
  const opened = Array.from({ length: count }, () => reads.open("changes"));
  const wait = (index: number) => opened[index]?.changed(60_000).then(() => void served.push(index));
  return { reads, served, opened, wait };
}

it("readers are served ten at a time, and once more for what changes meanwhile", async () => {
  const { reads, served, opened, wait } = openReads(25);
  for (const index of opened.keys()) void wait(index);
  const counts: number[] = [];
  const turn = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    counts.push(served.length);
  };
  reads.wake("changes");
  await turn(0);
  for (const index of served) void wait(index);
  reads.wake("changes");
  for (let turns = 0; turns < 4; turns += 1) await turn(10);
  expect(counts).toEqual([10, 20, 25, 35, 35]);
});

it("no reader is passed over when others leave within a round", async () => {
  const { reads, served, opened, wait } = openReads(14);
  for (const index of opened.keys()) void wait(index);
  reads.wake("changes");
  await vi.advanceTimersByTimeAsync(0);
  for (const index of served.splice(0)) void wait(index);
  reads.wake("changes");
  for (const index of [0, 1, 2, 3, 13]) opened[index]?.end();
  await vi.advanceTimersByTimeAsync(1_000);
  const left = [...opened.keys()].filter((index) => opened[index]?.isEnded === false);
  expect(new Set(served)).toEqual(new Set([...left, 0, 1, 2, 3, 13]));
});

it("a reader whose turn comes while it is being served has no need to wait", async () => {
  const { reads, served, wait } = openReads(1);
  reads.wake("changes");
  await wait(0);
  expect(served).toEqual([0]);
  void wait(0);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(served).toEqual([0]);
  reads.wake("changes");
  await vi.advanceTimersByTimeAsync(0);
  expect(served).toEqual([0, 0]);
});
