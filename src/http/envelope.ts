/** The envelope of every response under /v1 (spec section 1). */

import { AppError, ERROR_CODES, type ErrorCode, MODULES, type Module } from "@atrium/contract/errors.ts";
import * as z from "zod";
import { lacksTables } from "../platform/d1/d1.ts";
import { passingReason } from "../platform/objects/rpc.ts";
import { CORS_HEADERS } from "./security.ts";

export const ErrorDetail = z
  .object({
    module: z.enum(MODULES).meta({ description: "The part of the service that reports the error." }),
    code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
    message: z.string().meta({
      description: "The problem, and its remedy.",
      example: "Room not found",
    }),
  })
  .meta({ id: "Error" });
export type ErrorDetail = z.infer<typeof ErrorDetail>;

/** A successful response whose data has the given shape. */
export const successOf = (data: z.ZodType) =>
  z.object({
    type: z.literal("response"),
    success: z.literal(true),
    description: z.string(),
    data,
    error: z.null(),
    requestId: z.string(),
  });

export const Failure = z
  .object({
    type: z.literal("response"),
    success: z.literal(false),
    description: z.string(),
    data: z.object({}),
    error: ErrorDetail,
    requestId: z.string(),
  })
  .meta({ id: "Failure" });

const send = (
  status: number,
  body: string | Uint8Array<ArrayBuffer>,
  type: string,
  requestId: string,
  headers: Record<string, string> = {},
): Response =>
  new Response(body, {
    status,
    headers: {
      ...CORS_HEADERS,
      ...headers,
      "Content-Type": type,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    },
  });

const JSON_TYPE = "application/json; charset=utf-8";

export const success = (
  status: number,
  description: string,
  data: object,
  requestId: string,
  headers: Record<string, string> = {},
): Response =>
  send(
    status,
    JSON.stringify({ type: "response", success: true, description, data, error: null, requestId }),
    JSON_TYPE,
    requestId,
    headers,
  );

/** The response to a request that asked for bytes. */
export const octets = (status: number, bytes: Uint8Array<ArrayBuffer>, requestId: string): Response =>
  send(status, bytes, "application/octet-stream", requestId);

export function failure(error: AppError, requestId: string): Response {
  const { module, code, message, retryAfterSeconds } = error;
  const answer = { type: "response", success: false, description: message, data: {} };
  const body = JSON.stringify({ ...answer, error: { module, code, message }, requestId });
  return send(ERROR_CODES[code].status, body, JSON_TYPE, requestId, {
    ...(retryAfterSeconds !== undefined && { "Retry-After": String(retryAfterSeconds) }),
    ...(code === "UNAUTHORIZED" && { "WWW-Authenticate": "Bearer" }),
    ...(code === "UNSUPPORTED_MEDIA_TYPE" && { "Accept-Encoding": "identity" }),
  });
}

export const description = (document: object, requestId: string): Response =>
  new Response(JSON.stringify(document), {
    headers: {
      ...CORS_HEADERS,
      "Content-Type": JSON_TYPE,
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    },
  });

const UNAPPLIED_MIGRATIONS =
  "The database has no tables yet. Locally, run `npm start` or `npx wrangler d1 migrations apply DB --local`; " +
  "in production, run `npm run deploy`";

/** Objects follow their Worker within seconds, as a rule. */
const RETRY_SECONDS = 5;

/** The error for the response: an AppError unchanged, anything else as an INTERNAL_ERROR that discloses nothing. */
export function toAppError(error: unknown, module: Module): AppError {
  if (error instanceof AppError) return error;
  if (lacksTables(error)) return new AppError("Server", "INTERNAL_ERROR", UNAPPLIED_MIGRATIONS);
  const reason = passingReason(error);
  if (reason !== null) return new AppError("Server", "RATE_LIMITED", reason, RETRY_SECONDS);
  return new AppError(
    module,
    "INTERNAL_ERROR",
    "The service failed; retry, and quote the request ID if it fails again",
  );
}
