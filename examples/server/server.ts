/** A back end on Atrium: `POST /token` hands a browser its token, `POST /webhooks` receives what happens in rooms. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { AtriumError, type AtriumEvent, AtriumServer, verifyWebhook } from "atrium/server";

const { ACCOUNT_ID, API_KEY, ATRIUM_URL = "http://localhost:8787", PORT = "8791" } = process.env;
if (!ACCOUNT_ID || !API_KEY) {
  console.error("Set ACCOUNT_ID and API_KEY to the values that `npm start` printed, then run this again.");
  process.exit(1);
}
/** The API key stays in this process: browsers receive tokens only. */
const atrium = new AtriumServer({ serverUrl: ATRIUM_URL, accountId: ACCOUNT_ID, apiKey: API_KEY });
const ROOM = "my-first-room";
const TOKEN_SECONDS = 900;
const MAX_BODY_BYTES = 2 * 1024 * 1024;

/** Creates something with a custom ID of yours, or finds what was created before. */
async function createOrFind<Thing>(create: () => Promise<Thing>, find: () => Promise<Thing>): Promise<Thing> {
  try {
    return await create();
  } catch (error) {
    if (error instanceof AtriumError && error.code === "CONFLICT") return find();
    throw error;
  }
}

/** Yours: the person who has signed in to your application. Here, everyone is who they say they are. */
function personOf({ url = "" }: IncomingMessage): { readonly id: string; readonly name: string } {
  const name = new URL(url, "http://server").searchParams.get("name") || "Guest";
  return { id: name.toLowerCase(), name };
}

/** A short-lived token for the person, whose user in the room is created at the first visit. */
async function issueToken(request: IncomingMessage): Promise<{ serverUrl: string; token: string }> {
  const { id: customId, name } = personOf(request);
  const room = await createOrFind(
    () => atrium.rooms.create({ name: "My first room", customId: ROOM }),
    async () => (await atrium.rooms.getByCustomId(ROOM)).room,
  );
  const user = await createOrFind(
    () => atrium.users.create({ roomId: room.id, name, customId }),
    async () => (await atrium.users.getByCustomId(room.id, customId)).user,
  );
  const { token } = await atrium.users.createToken(room.id, user.id, { ttl: TOKEN_SECONDS });
  return { serverUrl: ATRIUM_URL, token };
}

/** The secret of this server's webhook. Atrium shows a secret once, so a server that has lost it rotates it. */
async function findSecret(url: string): Promise<string> {
  const { webhooks } = await atrium.webhooks.list({ search: url });
  const known = webhooks.find((webhook) => webhook.url === url);
  if (known === undefined) {
    const events = ["participant.joined", "participant.left", "comment.created"] as const;
    return (await atrium.webhooks.create({ url, events })).secret;
  }
  if (!known.enabled) await atrium.webhooks.update(known.id, { enabled: true });
  return (await atrium.webhooks.rotateSecret(known.id)).secret;
}

/** Yours: what to do with an event. It may arrive twice, with the same `id`. */
function onEvent({ event, room, ...concerned }: AtriumEvent): void {
  const name = "user" in concerned ? concerned.user.name : "";
  console.log(event, name, "in", room.name);
}

/** The body, byte for byte as it was signed. */
async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error("The body is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const server = createServer(async (request, response) => {
  try {
    const route = `${request.method} ${request.url?.split("?")[0]}`;
    if (route === "POST /token") {
      const answer = JSON.stringify(await issueToken(request));
      response.writeHead(200, { "Content-Type": "application/json" }).end(answer);
    } else if (route === "POST /webhooks") {
      const event = verifyWebhook(await readBody(request), request.headers, await secret);
      response.writeHead(204).end(); // first: Atrium need not wait for what follows
      onEvent(event);
    } else response.writeHead(404).end();
  } catch (error) {
    const isForged = error instanceof AtriumError && error.code === "INVALID_SIGNATURE";
    if (!isForged) console.error(error);
    if (!response.headersSent) response.writeHead(isForged ? 401 : 500).end();
  }
});
await new Promise<void>((resolve) => server.listen(Number(PORT), resolve));
const url = `http://localhost:${(server.address() as AddressInfo).port}`;
const secret = process.env.WEBHOOK_SECRET ?? findSecret(`${process.env.PUBLIC_URL ?? url}/webhooks`);
await secret;
console.log(`Listening at ${url}`);
