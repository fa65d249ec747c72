/** Logged API requests on the wire. */

import * as z from "zod";
import { presentTime, Timestamp } from "../time.ts";

/** The caller of a request: an API key, a member, a user of a room, or none without a valid credential. */
const CREDENTIALS = ["key", "member", "user", "none"] as const;

export interface LoggedRequest {
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
  /** Position before which to read; null for the latest requests. */
  readonly before: number | null;
  readonly failedOnly: boolean;
  /** Only requests by members, or only the others; undefined for all. */
  readonly isByMember: boolean | undefined;
  readonly operation: string | null;
  readonly credentialId: string | null;
  readonly roomId: string | null;
}

export interface RequestLogPage {
  readonly requests: LoggedRequest[];
  /** The cursor of the next page; null on the last one. */
  readonly before: number | null;
}

export const ApiRequest = z
  .object({
    id: z.string().meta({ description: "The request ID, as in `requestId` and `X-Request-Id`." }),
    client_request_id: z.string().nullable().meta({
      description:
        "The `X-Request-Id` that the client sent; `null` without one of 1 to 128 letters, digits and `_.:-`.",
    }),
    trace_id: z.string().nullable().meta({
      description: "The trace ID of the `traceparent` that the client sent; `null` without a valid one.",
    }),
    at: Timestamp,
    method: z.string(),
    route: z.string().meta({
      description: "The endpoint's path below the organization's, with the names of its parameters.",
    }),
    operation: z.string().meta({ description: "The `operationId` of the endpoint." }),
    status: z.int(),
    duration_ms: z.number().meta({ description: "Until the response began." }),
    credential: z.object({
      type: z.enum(CREDENTIALS).meta({
        description: "An API key, a member's session, a user's token, or none that is valid.",
      }),
      id: z.string().nullable().meta({ description: "The ID of the key, the person or the user." }),
    }),
    room_id: z.string().nullable(),
    error: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: "Why it was refused or failed; `null` for a success." }),
    address: z
      .string()
      .nullable()
      .meta({ description: "The network from which it came: a /24 of IPv4 or a /48 of IPv6." }),
    weight: z.number().meta({
      description:
        "The number of requests that it stands for: more than 1 where there were too many to log each.",
    }),
  })
  .meta({
    id: "ApiRequest",
    example: {
      id: "6b1d4c0e-2f37-4a58-9c1b-7e5a0d92f3b6",
      client_request_id: null,
      trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
      at: "2026-01-31T09:30:00.000Z",
      method: "DELETE",
      route: "/rooms/:roomId",
      operation: "deleteRoom",
      status: 404,
      duration_ms: 7,
      credential: { type: "key", id: "0d8f5c3e-9f0a-4c57-8b39-1f6d2f0a7c55" },
      room_id: "3f0c8a52-6a0e-4f6b-9a53-0d1f6a4f2b11",
      error: { code: "NOT_FOUND", message: "Room not found" },
      address: "203.0.113.0/24",
      weight: 1,
    },
  });
export type ApiRequest = z.infer<typeof ApiRequest>;

export const presentRequest = (request: LoggedRequest): ApiRequest => ({
  id: request.id,
  client_request_id: request.clientRequestId,
  trace_id: request.traceId,
  at: presentTime(request.at),
  method: request.method,
  route: request.route,
  operation: request.operation,
  status: request.status,
  duration_ms: request.durationMs,
  credential: { type: request.credential, id: request.credentialId },
  room_id: request.roomId,
  error: request.errorCode === null ? null : { code: request.errorCode, message: request.errorMessage ?? "" },
  address: request.address,
  weight: request.weight,
});
