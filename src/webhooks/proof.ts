/** Whether a webhook's receiver has shown that it wants our events: until then it gets few of them. Pure. */

/** So many failures of a receiver that has never answered 2xx cost it no pause; after each further one it rests. */
export const FREE_FAILURES = 10;
export const UNPROVEN_REST_MS = 5_000;
/** A webhook is disabled after so many failures if its receiver has never answered 2xx. */
export const MAX_UNPROVEN_FAILURES = 50;

/** What is known of the receiver at a URL; kept in the webhook's object. */
export interface Proof {
  /** The URL that this is about; null before the first attempt. */
  readonly url: string | null;
  /** The version of the webhook's row in which `failures` were counted: any change of the row gives another chance. */
  readonly version: number;
  /** True once it has answered 2xx. */
  readonly isProven: boolean;
  /** Failures until then. */
  readonly failures: number;
}

export const UNKNOWN: Proof = { url: null, version: 0, isProven: false, failures: 0 };

/** What is known of the receiver of a webhook whose row is at `version`, before another attempt. */
export function proofFor(known: Proof, url: string, version: number): Proof {
  if (known.url !== url) return { ...UNKNOWN, url, version };
  return known.version === version ? known : { ...known, version, failures: 0 };
}

/**
 * What is known after an attempt, and how long the receiver rests; `isRefuted` when it has failed too often without ever
 * answering 2xx.
 */
export function judgeProof(
  before: Proof,
  hasFailed: boolean,
): { readonly proof: Proof; readonly restMs: number; readonly isRefuted: boolean } {
  if (before.isProven || !hasFailed) {
    return { proof: { ...before, isProven: true, failures: 0 }, restMs: 0, isRefuted: false };
  }
  const failures = before.failures + 1;
  return {
    proof: { ...before, failures },
    restMs: failures > FREE_FAILURES ? UNPROVEN_REST_MS : 0,
    isRefuted: failures >= MAX_UNPROVEN_FAILURES,
  };
}
