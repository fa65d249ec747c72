/** The whiteboard's own back end: serves the page, and creates a user for each window. Run it beside `npm start`. */
import { readFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import path from "node:path";
import { build } from "esbuild";
// `atrium/server` in a project that has installed the package.
import { AtriumError, AtriumServer } from "../../src/sdk/server/index.ts";

export interface WhiteboardOptions {
  /** The address of Atrium, such as `http://localhost:8787`. */
  readonly serverUrl: string;
  readonly accountId: string;
  /** Stays here: pages receive the tokens of their users only. */
  readonly apiKey: string;
  /** 0 for any free port. */
  readonly port: number;
}

const PAGE = path.join(import.meta.dirname, "page");
const STATIC = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/style.css": ["style.css", "text/css; charset=utf-8"],
} as const;
const MAX_NAME_LENGTH = 60;

/** Starts the whiteboard; resolves when it listens. */
export async function startWhiteboard(options: WhiteboardOptions): Promise<Server> {
  const atrium = new AtriumServer(options);
  const script = await bundle();
  const server = createServer(async ({ method, url }, response) => {
    try {
      const { pathname, searchParams } = new URL(url ?? "/", "http://whiteboard");
      if (method === "POST" && pathname === "/session") {
        const token = await createUser(atrium, searchParams);
        send(response, "application/json", JSON.stringify({ serverUrl: options.serverUrl, token }));
      } else if (pathname === "/main.js") send(response, "text/javascript", script);
      else if (pathname === "/" || pathname === "/style.css") {
        const [file, type] = STATIC[pathname];
        send(response, type, await readFile(path.join(PAGE, file)));
      } else response.writeHead(404).end("There is no such page");
    } catch (error) {
      console.error(error);
      response.writeHead(500).end("The board could not be opened; the server's log has the reason");
    }
  });
  await new Promise<void>((resolve) => server.listen(options.port, resolve));
  return server;
}

/** The token of a new user in the room; `?room=` and `?name=` choose them. */
async function createUser(atrium: AtriumServer, query: URLSearchParams): Promise<string> {
  const roomId = await findRoom(atrium, query.get("room") ?? "whiteboard");
  const name =
    (query.get("name") ?? "").slice(0, MAX_NAME_LENGTH) || `Guest ${Math.ceil(Math.random() * 999)}`;
  return (await atrium.users.create({ roomId, name })).token;
}

/** The room of this custom id, which the first visitor creates. */
async function findRoom(atrium: AtriumServer, customId: string): Promise<string> {
  try {
    return (await atrium.rooms.getByCustomId(customId)).room.id;
  } catch (error) {
    if (!(error instanceof AtriumError && error.code === "NOT_FOUND")) throw error;
  }
  try {
    return (await atrium.rooms.create({ name: "Whiteboard", customId })).id;
  } catch (error) {
    // Another visitor was first.
    if (!(error instanceof AtriumError && error.code === "CONFLICT")) throw error;
    return (await atrium.rooms.getByCustomId(customId)).room.id;
  }
}

async function bundle(): Promise<string> {
  const sdk = path.join(import.meta.dirname, "../../src/sdk");
  const { outputFiles } = await build({
    entryPoints: [path.join(PAGE, "main.ts")],
    bundle: true,
    write: false,
    format: "esm",
    alias: {
      "atrium/client": path.join(sdk, "client/index.ts"),
      "atrium/offline": path.join(sdk, "offline/index.ts"),
    },
  });
  return outputFiles[0]?.text ?? "";
}

const send = (response: ServerResponse, type: string, body: string | Buffer): void => {
  response.writeHead(200, { "Content-Type": type }).end(body);
};
