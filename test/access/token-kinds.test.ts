/** Every kind of credential at every place that takes one: it opens its own places, and no other. */
import { exports } from "cloudflare:workers";
import { createHmac } from "node:crypto";
import type { ApiKeyNarrowing } from "@atrium/contract/rest/api-keys.ts";
import type { IssuedToken, UserWithToken } from "@atrium/contract/rest/users.ts";
import { expect, it } from "vitest";
import { SESSION_COOKIE } from "../../src/http/security.ts";
import { Operator } from "../backup/operator.ts";
import { openInboxSocket } from "../inbox/support.ts";
import { DocumentClient } from "../room/documents/document-client.ts";
import { joinRoom, openSocket } from "../room/support/join.ts";
import { account, makeGuest, narrowedKey, ORIGIN } from "../support/api.ts";
import { addMember, DashboardBrowser, tokenIn } from "../support/person.ts";

async function setUp() {
  const { id, api, apiKey } = await account();
  const { id: roomId } = await api.createRoom();
  const known = await api.post<{ identity: { id: string }; token: string }>("/identify", {
    ...{ customId: "ada", name: "Ada" },
  });
  await api.put(`/rooms/${roomId}/access`, { defaultAccesses: "editor" });
  const tokensOfIdentity = `/identities/${known.data.identity.id}/tokens`;
  const elsewhere = await api.post<{ token: string }>(tokensOfIdentity, { rooms: ["another-*"] });
  const made = await api.post<{ user: UserWithToken }>("/users", {
    ...{ name: "Ada", roomId, identityId: known.data.identity.id },
  });
  const { user } = made.data;
  const { guest, secret } = await makeGuest(api, roomId);
  (await joinRoom(id, roomId, guest.token)).close();
  const { browser, id: personId } = await addMember(id);
  const cookie = decodeURIComponent(browser.cookie.slice(SESSION_COOKIE.length + 1));
  const short = await api.post<IssuedToken>(`/users/${user.id}/tokens?roomId=${roomId}`, { ttl: 60 });
  const invitation = await api.post<{ url: string }>("/invitations");
  const link = await api.post<{ url: string }>(`/members/${personId}/password-link`);
  const webhook = await api.post<{ webhook: { secret: string } }>("/webhooks", {
    url: "https://hooks.example.com/atrium",
    events: ["user.created"],
  });
  const [header = "", payload = ""] = user.token.split(".");
  const signed = (secret: string) =>
    `${header}.${payload}.${createHmac("sha256", secret).update(`${header}.${payload}`).digest("base64url")}`;
  const narrowed = async (narrowing: ApiKeyNarrowing) =>
    btoa(`${id}:${(await narrowedKey({ id, api }, narrowing)).apiKey}`);
  const credentials = {
    "an API key's bearer": btoa(`${id}:${apiKey}`),
    "an API key": apiKey,
    "a narrowed API key's bearer": await narrowed({ permissions: ["*:read"], rooms: [roomId] }),
    "a narrowed API key's bearer for other rooms": await narrowed({ rooms: ["another-*"] }),
    "a user's token": user.token,
    "a short-lived token": short.data.token,
    "an identity's token": known.data.token,
    "an identity's token for other rooms": elsewhere.data.token,
    "a guest's token": guest.token,
    "the secret of a guest's link": secret,
    "a user's token in place of an API key": btoa(`${id}:${user.token}`),
    "an unsigned token": `${btoa('{"alg":"none","typ":"JWT"}').replaceAll("=", "")}.${payload}.`,
    "a token of an empty secret": signed(""),
    "a token of its key's ID": signed(JSON.parse(atob(header)).kid),
    "a sign-in cookie": cookie,
    "the session in it": cookie.slice(0, cookie.lastIndexOf(".")),
    "an invitation": tokenIn(invitation.data.url),
    "a link for a new password": tokenIn(link.data.url),
    "an operator's token": (await Operator.with(id, "backup")).token,
    "a webhook's secret": webhook.data.webhook.secret,
  };
  return { id, api, roomId, identityId: known.data.identity.id, user, credentials };
}

type World = Awaited<ReturnType<typeof setUp>>;
type Kind = keyof World["credentials"];

interface Place {
  readonly opens: readonly Kind[];
  /** Valid here, without the right to do this. */
  readonly forbidden?: readonly Kind[];
  /** The outcome of the credential there. */
  try(world: World, credential: string): Promise<"opens" | "forbidden" | "refused" | number>;
}

const USER_TOKENS = ["a user's token", "a short-lived token"] as const;
const ELSEWHERE = "an identity's token for other rooms";
/** Tokens that open a place in the room. */
const IN_ROOM = {
  opens: [...USER_TOKENS, "an identity's token", "a guest's token"],
  forbidden: [ELSEWHERE],
} as const;
const OF_IDENTITIES = ["an identity's token", "a guest's token", ELSEWHERE] as const;
const NARROWED_KEYS = ["a narrowed API key's bearer", "a narrowed API key's bearer for other rooms"] as const;
const OF_ROOM = [...IN_ROOM.opens, ELSEWHERE] as const;

const byStatus = (status: number) => {
  if (status < 300) return "opens";
  if (status === 403) return "forbidden";
  return status === 401 || status === 404 ? "refused" : status;
};

const CODES: Readonly<Record<number | string, "forbidden" | "refused">> = {
  ...{ 4401: "refused", UNAUTHORIZED: "refused", "The token is invalid or has expired": "refused" },
  ...{ 4403: "forbidden", FORBIDDEN: "forbidden", "The token is for another room": "forbidden" },
};
const byCode = (code: number | string | undefined) => CODES[code ?? ""] ?? 0;

/** Opens a document's socket at this address, and waits until it is synchronized or refused. */
async function openDocument(
  { api, roomId }: World,
  path: string,
  connect: (socket: WebSocket) => DocumentClient,
  headers: Record<string, string> = {},
) {
  const address = `${ORIGIN}${api.base}/rooms/${roomId}/documents${path}`;
  const response = await exports.default.fetch(
    new Request(address, { headers: { Upgrade: "websocket", ...headers } }),
  );
  if (response.webSocket === null) return byStatus(response.status);
  const client = connect(response.webSocket);
  const refusal = () => client.notes.map(([, note]) => note).find((note) => note in CODES);
  await client.until(() => client.isSynced || refusal() !== undefined).catch(() => undefined);
  if (client.isSynced) return "opens";
  return byCode(refusal() ?? (await client.closed).code);
}

const PLACES: Readonly<Record<string, Place>> = {
  "the organization's REST": {
    opens: ["an API key's bearer"],
    forbidden: [...OF_ROOM, ...NARROWED_KEYS],
    try: async ({ api }, credential) => byStatus((await api.as(credential).get("/rooms")).status),
  },
  "the users' REST": {
    ...IN_ROOM,
    opens: ["an API key's bearer", "a narrowed API key's bearer", ...IN_ROOM.opens],
    forbidden: [...IN_ROOM.forbidden, "a narrowed API key's bearer for other rooms"],
    try: async ({ api, roomId }, credential) =>
      byStatus((await api.as(credential).get(`/users?roomId=${roomId}`)).status),
  },
  "the dashboard's cookie": {
    opens: ["a sign-in cookie"],
    try: async ({ id }, credential) => {
      const browser = new DashboardBrowser();
      browser.cookie = `${SESSION_COOKIE}=${encodeURIComponent(credential)}`;
      return byStatus((await browser.api(id).get("/rooms")).status);
    },
  },
  "the endpoint of agents": {
    opens: ["an API key's bearer", ...NARROWED_KEYS, ...OF_ROOM],
    try: async (_, credential) => {
      const headers = { "Content-Type": "application/json", Authorization: `Bearer ${credential}` };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
      return byStatus((await new DashboardBrowser().raw("POST", "/mcp", { headers, body })).status);
    },
  },
  "the operator's endpoints": {
    opens: ["an operator's token"],
    try: async ({ id }, credential) =>
      byStatus((await new Operator(id, "backup", credential).raw("begin")).status),
  },
  "a link's redemption": {
    opens: ["the secret of a guest's link"],
    try: async ({ api }, secret) => {
      const { status } = await api.as("").post("/links/redeem", { secret, name: "Gale" });
      return status === 400 ? "refused" : byStatus(status); // no secret is as long as a token
    },
  },
  "an invitation's page": {
    opens: ["an invitation"],
    try: async (_, credential) =>
      byStatus((await new DashboardBrowser().get(`/invitations/${encodeURIComponent(credential)}`)).status),
  },
  "a password link's page": {
    opens: ["a link for a new password"],
    try: async (_, credential) =>
      byStatus(
        (await new DashboardBrowser().get(`/password-links/${encodeURIComponent(credential)}`)).status,
      ),
  },
  "the identity's own REST": {
    opens: OF_IDENTITIES,
    forbidden: ["an API key's bearer", ...NARROWED_KEYS, ...USER_TOKENS],
    try: async ({ api }, credential) =>
      byStatus((await api.as(credential).get("/me/inbox-notifications")).status),
  },
  INBOX_JOIN: {
    opens: ["an identity's token", ELSEWHERE],
    forbidden: ["a guest's token"],
    try: async ({ id, identityId }, token) => {
      const { success, error } = await (await openInboxSocket(id, identityId)).request("INBOX_JOIN", {
        token,
      });
      return success ? "opens" : byCode(error.code);
    },
  },
  JOIN_ROOM: {
    ...IN_ROOM,
    try: async ({ id, roomId }, token) => {
      const { success, error } = await (await openSocket(id, roomId)).request("JOIN_ROOM", { token });
      return success ? "opens" : byCode(error.code);
    },
  },
  TOKEN_REFRESH: {
    opens: [...USER_TOKENS, "an identity's token"],
    forbidden: [ELSEWHERE, "a guest's token"], // a guest is another participant
    try: async ({ id, roomId, user }, token) => {
      const socket = await joinRoom(id, roomId, user.token);
      const { success, error } = await socket.call("TOKEN_REFRESH", { token });
      socket.close();
      return success ? "opens" : byCode(error?.code);
    },
  },
  "a document's address": {
    ...IN_ROOM,
    opens: IN_ROOM.opens.filter((kind) => kind !== "a user's token"), // documents refuse lasting tokens in an address
    try: (world, credential) =>
      openDocument(world, `/notes/sync?token=${encodeURIComponent(credential)}`, (socket) =>
        DocumentClient.over(socket),
      ),
  },
  "a document's subprotocol": {
    ...IN_ROOM,
    try: (world, credential) =>
      openDocument(world, "/notes/sync", (socket) => DocumentClient.over(socket), {
        "Sec-WebSocket-Protocol": `atrium, ${credential}`,
      }),
  },
  "a frame of Hocuspocus' clients": {
    ...IN_ROOM,
    try: (world, credential) =>
      openDocument(world, "", (socket) => DocumentClient.over(socket, "notes", credential)),
  },
};

it.each(Object.entries(PLACES))("%s opens to its own credentials, and to no other kind", async (_, place) => {
  const world = await setUp();
  const expected = (kind: Kind) => {
    if (place.opens.includes(kind)) return "opens";
    return place.forbidden?.includes(kind) === true ? "forbidden" : "refused";
  };
  const kinds = Object.entries(world.credentials) as [Kind, string][];
  const outcomes: Record<string, unknown> = {};
  for (const [kind, credential] of kinds) outcomes[kind] = await place.try(world, credential);
  expect(outcomes).toEqual(Object.fromEntries(kinds.map(([kind]) => [kind, expected(kind)])));
});
