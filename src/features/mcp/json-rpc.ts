/** The messages of JSON-RPC 2.0 as MCP uses them: one in a request, and one in its response. */

import { AppError } from "@atrium/contract/errors.ts";
import * as z from "zod";

export const ClientMessage = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({ _meta: z.record(z.string(), z.unknown()).optional() }).default({}),
});
export type ClientMessage = z.infer<typeof ClientMessage>;

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  resourceNotFound: -32002,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;
type RpcCode = (typeof RPC)[keyof typeof RPC];

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

export const accepted = (): Response => new Response(null, { status: 202 });

export const META = "io.modelcontextprotocol/";
const STATELESS = "2026-07-28";
const HANDSHAKE_VERSIONS: readonly string[] = ["2025-11-25", "2025-06-18"];
export const VERSIONS = { handshake: HANDSHAKE_VERSIONS, all: [STATELESS, ...HANDSHAKE_VERSIONS] };

const VERSION_HEADER = "MCP-Protocol-Version";
/** The parameter that `Mcp-Name` repeats, by method. */
const NAMED = new Map([
  ["tools/call", "name"],
  ["resources/read", "uri"],
]);

const refusal = (message: string) => new AppError("Server", "BAD_REQUEST", message);

/** True for a stateless revision. RpcError for an unknown revision, or headers that differ from the message. */
export function isStateless(headers: Headers, { method, params }: ClientMessage): boolean {
  const meta = new Map(Object.entries(params._meta ?? {}));
  const [header, declared] = [headers.get(VERSION_HEADER), meta.get(`${META}protocolVersion`)];
  if (header !== null && declared !== undefined) requireSame(headers, VERSION_HEADER, declared);
  for (const requested of [header ?? undefined, declared]) {
    if (requested === undefined || VERSIONS.all.some((version) => version === requested)) continue;
    const spoken = `${VERSION_HEADER} must be one of ${VERSIONS.all.join(", ")}`;
    throw new RpcError(RPC.unsupportedVersion, refusal(spoken), { supported: VERSIONS.all, requested });
  }
  if (header !== STATELESS && declared !== STATELESS) return false;
  for (const key of ["protocolVersion", "clientCapabilities"])
    if (!meta.has(META + key))
      throw new RpcError(RPC.invalidParams, refusal(`params._meta must have ${META}${key}`));
  const field = NAMED.get(method ?? "");
  requireSame(headers, VERSION_HEADER, declared);
  requireSame(headers, "Mcp-Method", method);
  if (field !== undefined) requireSame(headers, "Mcp-Name", params[field]);
  return true;
}

function requireSame(headers: Headers, name: string, value: unknown): void {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(headers.get(name) ?? "") ?? [];
  const given = encoded === undefined ? headers.get(name) : Buffer.from(encoded, "base64").toString();
  if (given !== value)
    throw new RpcError(RPC.headerMismatch, refusal(`${name}: the header must be what the message says`));
}
