/** Serves the page and the SDK to browsers, and a user of the room to each window at `POST /token`. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AtriumError, AtriumServer } from "atrium/server";

const { ACCOUNT_ID, API_KEY, ATRIUM_URL = "http://localhost:8787", PORT = "8792" } = process.env;
if (!ACCOUNT_ID || !API_KEY) {
  console.error("Set ACCOUNT_ID and API_KEY to the values that `npm start` printed, then run this again.");
  process.exit(1);
}
/** The API key stays in this process: pages receive the tokens of their users only. */
const atrium = new AtriumServer({ serverUrl: ATRIUM_URL, accountId: ACCOUNT_ID, apiKey: API_KEY });
const ROOM = "plain-page";

async function openRoom(): Promise<string> {
  try {
    return (await atrium.rooms.create({ name: "Plain page", customId: ROOM })).id;
  } catch (error) {
    if (!(error instanceof AtriumError && error.code === "CONFLICT")) throw error;
    return (await atrium.rooms.getByCustomId(ROOM)).room.id;
  }
}

/** The file behind a path: one of the page, or a module of the SDK. */
function fileOf(path: string): URL | null {
  if (path === "/") return new URL("index.html", import.meta.url);
  if (path === "/main.js") return new URL("main.js", import.meta.url);
  const [, module] = /^\/atrium\/([\w-]+\.js)$/.exec(path) ?? [];
  return module === undefined ? null : new URL(module, import.meta.resolve("atrium/client"));
}

const server = createServer(async ({ method, url = "/" }, response) => {
  try {
    if (method === "POST" && url === "/token") {
      const name = `Guest ${Math.ceil(Math.random() * 999)}`;
      const { token } = await atrium.users.create({ roomId: await openRoom(), name });
      const answer = JSON.stringify({ serverUrl: ATRIUM_URL, token });
      return response.writeHead(200, { "Content-Type": "application/json" }).end(answer);
    }
    const file = fileOf(url);
    if (file === null) return response.writeHead(404).end("There is no such page");
    const type = file.pathname.endsWith(".js") ? "text/javascript" : "text/html";
    const content = await readFile(file);
    response.writeHead(200, { "Content-Type": `${type}; charset=utf-8` }).end(content);
  } catch (error) {
    console.error(error);
    response.writeHead(500).end("The server's log has the reason");
  }
});
server.listen(Number(PORT), () => {
  console.log(`Open http://localhost:${(server.address() as AddressInfo).port} in two windows`);
});
