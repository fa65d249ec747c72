/** Answers the Worker at a socket of this machine: JSON in and out, on connections that stay open. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

/** Answers a request by its path and its body. What it throws, the caller receives as the reason of a refusal. */
export type Answer = (path: string, body: unknown) => Promise<unknown>;

/** Listens at the path of a socket, whose folder says who may connect. */
export async function serveLocally(socket: string, answer: Answer): Promise<Server> {
  const server = createServer((request, response) => void respond(request, response, answer));
  // The Worker closes connections that idle. If both did, one would meet a request on its way.
  server.keepAliveTimeout = 0;
  server.listen(socket);
  await once(server, "listening");
  return server;
}

async function respond(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  try {
    const body: unknown = JSON.parse(await text(request));
    const json = JSON.stringify(await answer(request.url ?? "", body));
    response.writeHead(200, { "Content-Type": "application/json" }).end(json);
  } catch (error) {
    response.writeHead(503).end(error instanceof Error ? error.message : String(error));
  }
}
