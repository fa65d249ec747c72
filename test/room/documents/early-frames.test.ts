/** Frames of document clients before their tokens are verified. */
import { describe, expect, it } from "vitest";
import { PendingTokens } from "../../../src/room/documents/sync/pending-tokens.ts";

const KIBIBYTE = 1024;
/** A frame that takes this many bytes to keep. */
const frameOf = (bytes: number) => new Uint8Array(bytes - 256);

describe("frames that arrive before the token is verified", () => {
  it("are returned once, in their order, to the socket that sent them (D9)", () => {
    const early = new PendingTokens().early;
    const [first, second, other] = [new Uint8Array([1]), new Uint8Array([2]), new Uint8Array([3])];
    for (const frame of [first, second]) expect(early.add("a", frame)).toBe(true);
    expect(early.add("b", other)).toBe(true);
    expect(early.take("a")).toEqual([first, second]);
    expect(early.take("a")).toEqual([]);
    expect(early.take("b")).toEqual([other]);
  });

  it("have at most 256 KiB of one socket, however many they are (D14)", () => {
    const early = new PendingTokens().early;
    const frame = frameOf(64 * KIBIBYTE);
    for (let count = 0; count < 4; count += 1) expect(early.add("a", frame)).toBe(true);
    expect(early.add("a", new Uint8Array(1))).toBe(false);
    expect(early.add("b", frame)).toBe(true);
    expect(early.take("a")).toHaveLength(4);
  });

  it("are at most 1,024 of one socket, even if they have no bytes (D14)", () => {
    const early = new PendingTokens().early;
    for (let count = 0; count < 1024; count += 1) expect(early.add("a", new Uint8Array())).toBe(true);
    expect(early.add("a", new Uint8Array())).toBe(false);
    expect(early.take("a")).toHaveLength(1024);
    expect(early.add("a", new Uint8Array())).toBe(true);
  });

  it("have at most 16 MiB of all sockets that wait, and free them when they are taken (D14)", () => {
    const early = new PendingTokens().early;
    const frame = frameOf(256 * KIBIBYTE);
    for (let socket = 0; socket < 64; socket += 1) expect(early.add(`${socket}`, frame)).toBe(true);
    expect(early.add("one more", new Uint8Array(1))).toBe(false);
    early.take("0");
    expect(early.add("one more", frame)).toBe(true);
    expect(early.add("another", new Uint8Array(1))).toBe(false);
  });
});
