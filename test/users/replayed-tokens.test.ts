/** Requests that are repeated with their Idempotency-Key after the token of their first answer has ended. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openSocket } from "../room/support/join.ts";
import { type Account, Api, account, refusalOf } from "../support/api.ts";

interface Issued {
  readonly token: string;
  readonly expires_at?: string;
}

const joinStatus = async (owner: Account, roomId: string, token: string) =>
  (await (await openSocket(owner.id, roomId)).request("JOIN_ROOM", { token })).success;

/** One organization with a room, a user, an identity that has access, and a link; and the requests for their tokens. */
async function furnish() {
  const owner = await account();
  const { api } = owner;
  await api.put("/access/default", { defaultAccesses: "editor" });
  const room = await api.createRoom();
  const user = await api.createUser(room.id);
  const made = await api.post<{ identity: { id: string } }>("/identities", { customId: "ada", name: "Ada" });
  const identity = made.data.identity.id;
  const link = await api.post<{ link: { id: string }; secret: string }>(`/rooms/${room.id}/links`, {
    permissions: "viewer",
  });
  const ofUser = `/users/${user.id}`;
  const ofIdentity = `/identities/${identity}`;
  const inRoom = `?roomId=${room.id}`;
  const requests = {
    identify: { path: "/identify", body: { customId: "ada", name: "Ada", rooms: [room.id] } },
    "an identity's token": { path: `${ofIdentity}/tokens`, body: { ttl: 60, permissions: ["*:read"] } },
    "a user's token": { path: `${ofUser}/tokens${inRoom}`, body: { ttl: 60, role: "viewer" } },
    "a user's creation": { path: "/users", body: { name: "Another", roomId: room.id } },
    "a guest's redemption": { path: "/links/redeem", body: { secret: link.data.secret, name: "Gale" } },
  };
  const send = (name: keyof typeof requests) => {
    const { path, body } = requests[name];
    const sender = path === "/links/redeem" ? new Api(owner.id, null) : api;
    return sender.post<Issued & { identity?: { id: string }; user?: { id: string } }>(path, body, {
      headers: { "Idempotency-Key": "k" },
    });
  };
  return { owner, api, room, link: link.data.link, ofUser, ofIdentity, inRoom, send };
}

/** Lets the receipts be of requests that were sent an hour ago. */
const ageReceipts = (accountId: string) =>
  env.DB.prepare(
    `UPDATE receipts SET data = json_set(data, '$.claims.iat', data ->> '$.claims.iat' - 3600,
       '$.claims.exp', data ->> '$.claims.exp' - 3600)
     WHERE scope LIKE ? || '%' AND data ->> '$.claims' IS NOT NULL`,
  )
    .bind(accountId)
    .run();

type Furnished = Awaited<ReturnType<typeof furnish>>;
type Sent = Parameters<Furnished["send"]>[0];

const endAll = ({ api }: Furnished) => api.delete("/tokens");
const expire = ({ owner }: Furnished) => ageReceipts(owner.id);

describe("a repeated request for a token", () => {
  it.each<[Sent, string, (furnished: Furnished, first: { user?: { id: string } }) => Promise<unknown>]>([
    ["identify", "all tokens were ended", endAll],
    [
      "identify",
      "its identity's tokens were ended",
      ({ api, ofIdentity }) => api.delete(`${ofIdentity}/tokens`),
    ],
    ["identify", "it has expired", expire],
    ["an identity's token", "all tokens were ended", endAll],
    [
      "an identity's token",
      "its identity's tokens were ended",
      ({ api, ofIdentity }) => api.delete(`${ofIdentity}/tokens`),
    ],
    ["an identity's token", "it has expired", expire],
    ["a user's token", "all tokens were ended", endAll],
    [
      "a user's token",
      "its user's tokens were ended",
      ({ api, ofUser, inRoom }) => api.delete(`${ofUser}/tokens${inRoom}`),
    ],
    ["a user's token", "it has expired", expire],
    ["a user's creation", "all tokens were ended", endAll],
    [
      "a user's creation",
      "its user's tokens were ended",
      ({ api, inRoom }, { user }) => api.delete(`/users/${user?.id}/tokens${inRoom}`),
    ],
    ["a guest's redemption", "it has expired", expire],
  ])("(%s) answers a token that works after %s", async (name, _, end) => {
    const furnished = await furnish();
    const { owner, room, send } = furnished;
    const first = await send(name);
    expect((await send(name)).data).toEqual(first.data);
    await end(furnished, first.data);
    const again = await send(name);
    expect([again.status, again.headers.get("Idempotency-Replayed")]).toEqual([first.status, "true"]);
    expect(await joinStatus(owner, room.id, again.data.token)).toBe(true);
    const { token: _first, expires_at: _at, user: _user, ...same } = first.data;
    expect(again.data).toMatchObject(same);
    const claims = JSON.parse(atob(again.data.token.split(".")[1] ?? ""));
    if (again.data.expires_at) expect(Date.parse(again.data.expires_at)).toBe(claims.exp * 1000);
    if (name === "an identity's token") expect(claims).toMatchObject({ permissions: ["*:read"] });
    if (name === "a user's token") expect(claims).toMatchObject({ role: "viewer", narrowed: true });
  });

  it.each<
    [
      Sent,
      string,
      (furnished: Furnished, first: { user?: { id: string }; identity?: { id: string } }) => Promise<unknown>,
    ]
  >([
    ["identify", "its identity was deleted", ({ api, ofIdentity }) => api.delete(ofIdentity)],
    ["an identity's token", "its identity was deleted", ({ api, ofIdentity }) => api.delete(ofIdentity)],
    ["a user's token", "its user was deleted", ({ api, ofUser, inRoom }) => api.delete(ofUser + inRoom)],
    [
      "a user's creation",
      "its user was deleted",
      ({ api, inRoom }, { user }) => api.delete(`/users/${user?.id}${inRoom}`),
    ],
    ["a guest's redemption", "all tokens were ended", endAll],
    [
      "a guest's redemption",
      "the guest's tokens were ended",
      ({ api }, { identity }) => api.delete(`/identities/${identity?.id}/tokens`),
    ],
    [
      "a guest's redemption",
      "the guest was removed",
      ({ api }, { identity }) => api.delete(`/identities/${identity?.id}`),
    ],
  ])("(%s) is refused after %s", async (name, _, end) => {
    const furnished = await furnish();
    const first = await furnished.send(name);
    await end(furnished, first.data);
    const again = await furnished.send(name);
    expect(refusalOf(again)).toEqual([409, expect.any(String), "CONFLICT"]);
    expect(again.error?.message).toContain("another Idempotency-Key");
  });

  it("(a guest's redemption) is refused as every redemption is once the link has ended or its room is closed", async () => {
    const { api, room, link, send } = await furnish();
    await send("a guest's redemption");
    await api.patch(`/rooms/${room.id}`, { state: "closed" });
    expect(refusalOf(await send("a guest's redemption"))).toEqual([404, "Identities", "NOT_FOUND"]);
    await api.patch(`/rooms/${room.id}`, { state: "active" });
    expect((await send("a guest's redemption")).status).toBe(200);
    await api.delete(`/rooms/${room.id}/links/${link.id}`);
    expect(refusalOf(await send("a guest's redemption"))).toEqual([404, "Identities", "NOT_FOUND"]);
  });
});
