/** Requests in the request log, and pages of them. */

/** The caller of a request: an API key, a member, a user of a room, or none without a valid credential. */
export const CREDENTIALS = ["key", "member", "user", "none"] as const;

export interface LoggedRequest {
  /** The request ID. */
  readonly id: string;
  /** The ID that the client gave to it, and the trace ID that it sent; null for none. */
  readonly clientRequestId: string | null;
  readonly traceId: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly method: string;
  /** The endpoint's path below the organization's, with the names of its parameters. */
  readonly route: string;
  readonly operation: string;
  readonly status: number;
  readonly durationMs: number;
  readonly credential: (typeof CREDENTIALS)[number];
  /** The ID of the key, person or user; null without one. */
  readonly credentialId: string | null;
  readonly roomId: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Shortened to a network; null when it is not known. */
  readonly address: string | null;
  /** The requests that it stands for, itself included: more than 1 where successes are sampled. */
  readonly weight: number;
}

export interface RequestLogQuery {
  readonly limit: number;
  /** Only what was logged before this position. */
  readonly before: number | null;
  readonly failedOnly: boolean;
  readonly operation: string | null;
  readonly credentialId: string | null;
  readonly roomId: string | null;
}

export interface RequestLogPage {
  /** The newest first. */
  readonly requests: LoggedRequest[];
  /** Where the page that follows begins; null on the last one. */
  readonly before: number | null;
}
