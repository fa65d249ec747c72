/** The back end: creates the room, and a user for each window. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { AtriumError, AtriumServer } from "atrium/server";
import * as Y from "yjs";

const ROOM = "editors";

/** Answers `POST /token`. The API key stays here: pages receive the tokens of their users only. */
export function answerTokens(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { ACCOUNT_ID, API_KEY, ATRIUM_URL = "http://localhost:8787" } = process.env;
  if (!ACCOUNT_ID || !API_KEY)
    throw new Error(
      "Set ACCOUNT_ID and API_KEY to the values that `npm start` printed, then run this again.",
    );
  const atrium = new AtriumServer({ serverUrl: ATRIUM_URL, accountId: ACCOUNT_ID, apiKey: API_KEY });
  return async ({ method }, response) => {
    if (method !== "POST") return void response.writeHead(405).end();
    try {
      const roomId = await openRoom(atrium);
      await atrium.documents.seed(roomId, "article", emptyArticle()); // suggestions need a document
      const name = `Guest ${Math.ceil(Math.random() * 999)}`;
      const { token } = await atrium.users.create({ roomId, name });
      const documents = new URL(`/v1/accounts/${ACCOUNT_ID}/rooms/${roomId}/documents`, ATRIUM_URL);
      documents.protocol = documents.protocol.replace("http", "ws");
      const answer = JSON.stringify({ serverUrl: ATRIUM_URL, documents, token, name });
      response.writeHead(200, { "Content-Type": "application/json" }).end(answer);
    } catch (error) {
      console.error(error);
      response.writeHead(500).end("The room could not be opened; the server's log has the reason");
    }
  };
}

/** An article with one empty paragraph and its text, which two editors would add twice. */
function emptyArticle(): Uint8Array {
  const doc = new Y.Doc();
  const paragraph = new Y.XmlElement("paragraph");
  paragraph.insert(0, [new Y.XmlText()]);
  doc.getXmlFragment("default").insert(0, [paragraph]);
  return Y.encodeStateAsUpdate(doc);
}

async function openRoom(atrium: AtriumServer): Promise<string> {
  try {
    return (await atrium.rooms.create({ name: "Editors", customId: ROOM })).id;
  } catch (error) {
    if (!(error instanceof AtriumError && error.code === "CONFLICT")) throw error;
    return (await atrium.rooms.getByCustomId(ROOM)).room.id;
  }
}
