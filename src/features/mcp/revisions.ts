/** Recognizes the revision of MCP that a request speaks: the stateless ones describe themselves in each request, without a handshake. */
import { AppError } from "../../platform/errors.ts";
import { type ClientMessage, RPC, RpcError } from "./json-rpc.ts";

/** The prefix of the protocol's own keys in `_meta`. */
export const META = "io.modelcontextprotocol/";
const STATELESS = "2026-07-28";
/** Revisions that begin with `initialize`, the newest first. */
export const HANDSHAKE_VERSIONS: readonly string[] = ["2025-11-25", "2025-06-18"];
export const PROTOCOL_VERSIONS: readonly string[] = [STATELESS, ...HANDSHAKE_VERSIONS];

const VERSION_HEADER = "MCP-Protocol-Version";
/** Where the methods that have one keep what `Mcp-Name` repeats. */
const NAMED: Readonly<Record<string, string>> = { "tools/call": "name", "resources/read": "uri" };

const refusal = (message: string) => new AppError("Server", "BAD_REQUEST", message);

/**
 * True for a request of a stateless revision. Throws an {@link RpcError} for a revision that is not spoken here, and for
 * headers that differ from the message: a proxy would decide by the one, the service by the other.
 */
export function isStateless(headers: Headers, { method, params }: ClientMessage): boolean {
  const meta = new Map(Object.entries(params._meta ?? {}));
  const [header, declared] = [headers.get(VERSION_HEADER), meta.get(`${META}protocolVersion`)];
  if (header !== null && declared !== undefined) requireSame(headers, VERSION_HEADER, declared);
  for (const requested of [header ?? undefined, declared]) {
    if (requested === undefined || PROTOCOL_VERSIONS.some((version) => version === requested)) continue;
    const spoken = `${VERSION_HEADER} must be one of ${PROTOCOL_VERSIONS.join(", ")}`;
    throw new RpcError(RPC.unsupportedVersion, refusal(spoken), { supported: PROTOCOL_VERSIONS, requested });
  }
  if (header !== STATELESS && declared !== STATELESS) return false;
  for (const key of ["protocolVersion", "clientCapabilities"])
    if (!meta.has(META + key))
      throw new RpcError(RPC.invalidParams, refusal(`params._meta must have ${META}${key}`));
  const field = NAMED[method ?? ""];
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
