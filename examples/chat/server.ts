/** The back end: creates the room and a user for each window, and has the model answer into a stream. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import type { UIMessage, UIMessageChunk } from "ai";
import { AtriumError, AtriumServer, type RoomStream } from "atrium/server";
import { generate } from "./model.ts";

const ROOM = "chat";

type Answer = (request: IncomingMessage) => Promise<object>;

/** Answers of `POST`, by their path. The API key stays here: pages receive the tokens of their users only. */
export async function answers(): Promise<Readonly<Record<"/token" | "/ask", Answer>>> {
  const { ACCOUNT_ID, API_KEY, ATRIUM_URL = "http://localhost:8787" } = process.env;
  if (!ACCOUNT_ID || !API_KEY)
    throw new Error(
      "Set ACCOUNT_ID and API_KEY to the values that `npm start` printed, then run this again.",
    );
  const atrium = new AtriumServer({ serverUrl: ATRIUM_URL, accountId: ACCOUNT_ID, apiKey: API_KEY });
  await endUnfinished(atrium);
  return {
    "/token": async () => {
      const roomId = await openRoom(atrium);
      const { token } = await atrium.users.create({
        roomId,
        name: `Guest ${Math.ceil(Math.random() * 999)}`,
      });
      return { serverUrl: ATRIUM_URL, token };
    },
    "/ask": async (request) => {
      const { messages } = (await json(request)) as { messages: UIMessage[] };
      const roomId = await openRoom(atrium);
      const answer = `answer-${crypto.randomUUID()}`;
      const stream = await atrium.stream(roomId, answer);
      await stream.create({ contentType: "application/json" });
      const key = `${new Date().toISOString()} ${answer}`;
      await atrium.stores.set(roomId, "turns", key, { question: messages.at(-1), answer });
      void write(stream, messages);
      return { answer };
    },
  };
}

/** Ends the answers that an earlier process has left in their middle: their readers cannot see that it is gone. */
async function endUnfinished(atrium: AtriumServer): Promise<void> {
  const roomId = await openRoom(atrium);
  for await (const { name, closed } of atrium.streams.each(roomId))
    if (!closed)
      await (await atrium.stream(roomId, name))
        .close(failure("The back end has stopped"))
        .catch(console.error);
}

const failure = (errorText: string): UIMessageChunk => ({ type: "error", errorText });

/** Goes on without the page that has asked. */
async function write(stream: RoomStream, messages: readonly UIMessage[]): Promise<void> {
  const writer = stream.writer();
  try {
    for await (const chunk of generate(messages)) await writer.write(chunk);
    await writer.close();
  } catch (error) {
    console.error(error);
    await writer.close(failure("The model has failed")).catch(() => {});
  }
}

export const respond =
  (answer: Answer) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    try {
      const body = JSON.stringify(await answer(request));
      response.writeHead(200, { "Content-Type": "application/json" }).end(body);
    } catch (error) {
      console.error(error);
      response.writeHead(500).end("The server's log has the reason");
    }
  };

async function openRoom(atrium: AtriumServer): Promise<string> {
  try {
    return (await atrium.rooms.create({ name: "Chat", customId: ROOM })).id;
  } catch (error) {
    if (!(error instanceof AtriumError && error.code === "CONFLICT")) throw error;
    return (await atrium.rooms.getByCustomId(ROOM)).room.id;
  }
}
