/** Refuses a WebSocket by a close code: pages cannot read the status of an upgrade that fails. */
import type { CloseCode } from "../../../room/protocol/close.ts";

/** A response to an upgrade whose socket closes at once. */
export function refusedSocket(code: CloseCode, reason: string, protocol: string | null = null): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.close(code, reason);
  const headers = protocol === null ? {} : { "Sec-WebSocket-Protocol": protocol };
  return new Response(null, { status: 101, webSocket: client, headers });
}
