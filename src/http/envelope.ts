/** The envelope of every response under /v1 (spec section 1). */
import * as z from "zod";
import { lacksTables } from "../platform/d1/d1.ts";
import { AppError, ERROR_CODES, type ErrorCode, MODULES, type Module } from "../platform/errors.ts";
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

const respond = (
  status: number,
  envelope: object,
  requestId: string,
  headers: Record<string, string>,
): Response =>
  new Response(JSON.stringify(envelope), {
    status,
    headers: {
      ...CORS_HEADERS,
      ...headers,
      "Content-Type": "application/json; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    },
  });

export const success = (
  status: number,
  description: string,
  data: object,
  requestId: string,
  headers: Record<string, string> = {},
): Response =>
  respond(
    status,
    { type: "response", success: true, description, data, error: null, requestId },
    requestId,
    headers,
  );

/** The response to a request that asked for bytes. */
export const octets = (status: number, bytes: Uint8Array<ArrayBuffer>, requestId: string): Response =>
  new Response(bytes, {
    status,
    headers: {
      ...CORS_HEADERS,
      "Content-Type": "application/octet-stream",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    },
  });

export function failure(error: AppError, requestId: string): Response {
  const { module, code, message, retryAfterSeconds } = error;
  return respond(
    ERROR_CODES[code].status,
    {
      type: "response",
      success: false,
      description: message,
      data: {},
      error: { module, code, message },
      requestId,
    },
    requestId,
    {
      ...(retryAfterSeconds !== undefined && { "Retry-After": String(retryAfterSeconds) }),
      ...(code === "UNAUTHORIZED" && { "WWW-Authenticate": "Bearer" }),
    },
  );
}

export const description = (document: object, requestId: string): Response =>
  new Response(JSON.stringify(document), {
    headers: {
      ...CORS_HEADERS,
      "Content-Type": "application/json; charset=utf-8",
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
