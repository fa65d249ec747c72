/** A service with the API of chat completions, whose model says the same each time. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface AskedModel {
  readonly url: string;
  readonly requests: readonly { readonly authorization: string | undefined; readonly body: unknown }[];
  stop(): Promise<void>;
}

/**
 * Answers with these pieces, each an event; events are sent in two halves, as networks may cut them. Unless it ends, the
 * model thinks on after them.
 */
export async function startModel(pieces: readonly string[], ends = true): Promise<AskedModel> {
  const requests: { authorization: string | undefined; body: unknown }[] = [];
  const server = createServer(async (request, response) => {
    requests.push({ authorization: request.headers.authorization, body: await json(request) });
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const content of pieces) {
      const event = `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
      response.write(event.slice(0, 20));
      await new Promise(setImmediate);
      response.write(event.slice(20));
    }
    if (ends) response.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
