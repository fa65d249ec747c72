/** How a receiver proves that it wants events, and what becomes of one that never does. */
import { describe, expect, it } from "vitest";
import {
  FREE_FAILURES,
  judgeProof,
  MAX_UNPROVEN_FAILURES,
  type Proof,
  proofFor,
  UNKNOWN,
  UNPROVEN_REST_MS,
} from "../../src/features/webhooks/receiver-health.ts";

const URL = "https://receiver.example.com/hooks";
const fresh = proofFor(UNKNOWN, URL, 1);

const failing = (times: number, from: Proof = fresh): ReturnType<typeof judgeProof> => {
  let judged = judgeProof(from, true);
  for (let count = 1; count < times; count += 1) judged = judgeProof(judged.proof, true);
  return judged;
};

describe("a receiver", () => {
  it("has proven itself with its first 2xx, for as long as the URL stays", () => {
    const { proof } = judgeProof(failing(3).proof, false);
    expect(proof.isProven).toBe(true);
    expect(failing(100, proofFor(proof, URL, 2))).toEqual({
      proof: { ...proof, version: 2 },
      restMs: 0,
      isRefuted: false,
    });
    expect(proofFor(proof, `${URL}/other`, 2).isProven).toBe(false);
  });

  it("rests after each failure, once the first ones are used up", () => {
    expect(failing(FREE_FAILURES).restMs).toBe(0);
    expect(failing(FREE_FAILURES + 1).restMs).toBe(UNPROVEN_REST_MS);
  });

  it("is refuted by fifty failures without a 2xx, and has another chance when its webhook is changed", () => {
    expect(failing(MAX_UNPROVEN_FAILURES - 1).isRefuted).toBe(false);
    const { proof, isRefuted } = failing(MAX_UNPROVEN_FAILURES);
    expect(isRefuted).toBe(true);
    expect(judgeProof(proofFor(proof, URL, 2), true)).toMatchObject({ restMs: 0, isRefuted: false });
  });
});
