/** Upgrades to WebSockets: how they are recognized, and refused so that a page can read why. */

export const isUpgrade = (request: Request): boolean =>
  request.headers.get("Upgrade")?.toLowerCase() === "websocket";

/** A response to an upgrade whose socket closes at once, after the messages. */
export function refusedSocket(
  code: number,
  reason: string,
  protocol: string | null = null,
  messages: readonly (string | Uint8Array)[] = [],
): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  for (const message of messages) server.send(message);
  server.close(code, reason);
  const headers = protocol === null ? {} : { "Sec-WebSocket-Protocol": protocol };
  return new Response(null, { status: 101, webSocket: client, headers });
}
