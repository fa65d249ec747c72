/** The kind of an identity, wherever its users are shown. */
import { env } from "cloudflare:workers";
import type { Identity } from "@atrium/contract/resources/identity.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import type { UserWithToken } from "@atrium/contract/rest/users.ts";
import { expect, it } from "vitest";
import { joinWith } from "../room/support/join.ts";
import { account, makeGuest } from "../support/api.ts";

const owner = await account();

const make = async (kind: "agent" | "person") =>
  (await owner.api.post<{ identity: Identity }>("/identities", { name: kind, kind })).data.identity;

async function joinAs(identityId: string, roomId: string) {
  const { data } = await owner.api.post<{ token: string }>(`/identities/${identityId}/tokens`, {});
  return joinWith(owner.id, roomId, data.token);
}

it("names agents and guests who join, over the socket and over REST, and is absent for persons", async () => {
  const room = await owner.api.createRoom();
  await owner.api.put(`/rooms/${room.id}/access`, { defaultAccesses: ["*:write"] });
  const { guest } = await makeGuest(owner.api, room.id, { permissions: "viewer" });
  const person = await joinAs((await make("person")).id, room.id);
  await joinAs((await make("agent")).id, room.id);
  await joinWith(owner.id, room.id, guest.token);

  const kinds = (users: readonly Pick<User, "name" | "kind">[]) =>
    Object.fromEntries(users.map(({ name, kind }) => [name, kind]));
  const expected = { person: undefined, agent: "agent", Gale: "guest" };
  const told: User[] = [];
  while (told.length < 2) {
    const { event, data } = await person.socket.nextEvent();
    if (event === "userJoined") told.push((data as { readonly user: User }).user);
  }
  expect({ person: undefined, ...kinds(told) }).toEqual(expected);
  const online = await person.socket.call("USERS_ONLINE", {});
  expect(kinds((online.data as { readonly users: User[] }).users)).toEqual(expected);
  for (const path of [`/users?roomId=${room.id}`, "/organization/users?limit=100"]) {
    const { users } = (await owner.api.get<{ users: User[] }>(path)).data;
    expect(kinds(users)).toEqual(expected);
  }
});

it("is that of the identity which a user is created for", async () => {
  const room = await owner.api.createRoom();
  const identity = await make("agent");
  const body = { roomId: room.id, name: "Helper", identityId: identity.id };
  const { data } = await owner.api.post<{ user: UserWithToken }>("/users", body);
  expect(data.user.kind).toBe("agent");
  const path = `/users/${data.user.id}?roomId=${room.id}`;
  expect((await owner.api.patch<{ user: User }>(path, { name: "Help" })).data.user.kind).toBe("agent");
});

it("is given to users that come without it, from a backup or a version before, in any order", async () => {
  const room = await owner.api.createRoom();
  const sql = `INSERT INTO users (id, account_id, room_id, name, name_folded, role, created_at, identity_id)
    VALUES (?1, ?2, ?3, 'Helper', 'HELPER', 'editor', 0, ?4)`;
  const kindOf = (id: string) => env.DB.prepare("SELECT kind FROM users WHERE id = ?").bind(id).first("kind");
  const [early, late, unknown] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const insert = (id: string, identityId: string) =>
    env.DB.prepare(sql).bind(id, owner.id, room.id, identityId);
  await insert(late, (await make("agent")).id).run();
  expect(await kindOf(late)).toBe("agent");
  await insert(early, unknown).run();
  expect(await kindOf(early)).toBe(null);
  await env.DB.prepare(
    `INSERT INTO identities (account_id, id, kind, name, name_folded, created_at) VALUES (?, ?, 'guest', 'G', 'G', 0)`,
  )
    .bind(owner.id, unknown)
    .run();
  expect(await kindOf(early)).toBe("guest");
});
