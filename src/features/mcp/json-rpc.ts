/** The messages of JSON-RPC 2.0 as MCP uses them: one in a request, and one in its response. */
import * as z from "zod";
import type { AppError } from "../../platform/errors.ts";

/** A request, a notification without `id`, or a response of the client, which has no `method`. */
export const ClientMessage = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({ _meta: z.record(z.string(), z.unknown()).optional() }).default({}),
});
export type ClientMessage = z.infer<typeof ClientMessage>;

/** The codes of JSON-RPC and MCP that this service uses. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Of the revisions with a handshake; later ones use `invalidParams`. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;
type RpcCode = (typeof RPC)[keyof typeof RPC];

/** An error of the protocol itself; what a tool refuses is a result instead. */
export class RpcError extends Error {
  readonly code: RpcCode;
  readonly error: AppError;
  readonly data: object;

  constructor(code: RpcCode, error: AppError, data: object = {}) {
    super(error.message);
    this.code = code;
    this.error = error;
    this.data = data;
  }
}

type Id = string | number | null;

const respond = (status: number, message: object): Response =>
  Response.json(message, {
    status,
    headers: { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" },
  });

export const rpcResult = (id: Id, result: object): Response => respond(200, { jsonrpc: "2.0", id, result });

/** `data` holds the service's own code beside the one of JSON-RPC. */
export const rpcFailure = (
  status: number,
  id: Id,
  { code, error, data }: RpcError,
  requestId: string,
): Response =>
  respond(status, {
    jsonrpc: "2.0",
    id,
    error: {
      code,
      message: error.message,
      data: { ...data, module: error.module, code: error.code, requestId },
    },
  });

/** The response to a notification: there is nothing to say. */
export const accepted = (): Response => new Response(null, { status: 202 });
