/** Sharing a board: who may, what it changes, and for whom. */
import { expect, it } from "vitest";
import type { Sharing } from "../../src/demo/sharing.ts";
import { account, type Redeemed, refusalOf } from "../support/api.ts";
import { askAs, boardOf, identityClaims, visit } from "./visit.ts";

async function openBoard() {
  const owner = await account();
  const tokens = [];
  for (const name of ["Ada", "Bo"])
    tokens.push((await visit(owner.id, `?room=ours&name=${name}`)).data.token);
  const [ada, bo] = tokens;
  const share = (token: string | undefined, body?: object) =>
    askAs<Sharing>(owner.id, token, body ? ["PUT", "sharing", body] : ["GET", "sharing"]);
  const mayDo = async (token: string | undefined) => {
    const { identityId } = identityClaims(token);
    const path = `/rooms/${boardOf(token)}/access/check`;
    return (await owner.api.post<{ permissions: string[] }>(path, { identityId })).data.permissions;
  };
  return { owner, ada, bo, boId: identityClaims(bo).identityId, share, mayDo };
}

it("everyone who may edit shares the board, and the visitor who has opened it always does", async () => {
  const { ada, bo, boId, share, mayDo } = await openBoard();
  const { data } = await share(bo);
  expect(data).toMatchObject({ everyone: "editor", links: [] });
  expect(data.people.map(({ name, is_owner, level }) => [name, is_owner, level])).toEqual([
    ["Ada", true, "editor"],
    ["Bo", false, null],
  ]);
  expect(data.groups.map(({ name, level, members }) => [name, level, members.length])).toEqual([
    ["Design team", null, 1],
    ["Reviewers", null, 0],
  ]);
  const adaId = identityClaims(ada).identityId;
  const onOwner = await share(bo, { of: "person", id: adaId, level: "none" });
  expect(refusalOf(onOwner)).toEqual([403, "Access", "FORBIDDEN"]);
  await share(ada, { of: "person", id: boId, level: "commenter" });
  expect(await mayDo(bo)).toContain("comments:write");
  for (const body of [undefined, { of: "person", id: boId, level: "editor" }])
    expect(refusalOf(await share(bo, body))).toEqual([403, "Access", "FORBIDDEN"]);
});

it("a group gives its members access to a board that lets in no one else", async () => {
  const { owner, ada, bo, boId, share, mayDo } = await openBoard();
  const [, reviewers] = (await share(ada)).data.groups;
  const groupId = reviewers?.id ?? "";
  await share(ada, { of: "everyone", level: "none" });
  expect(await mayDo(bo)).toEqual([]);
  expect((await askAs(owner.id, bo, ["POST", "tokens"])).status).toBe(403);
  const refused = await visit(owner.id, "?room=ours&name=Cleo");
  expect([refused.status, refused.error?.message]).toEqual([
    403,
    "You have no access to this board. Ask the person who shared it.",
  ]);
  await share(ada, { of: "group", id: groupId, level: "viewer" });
  for (const isMember of [true, true]) await share(ada, { of: "member", id: boId, groupId, isMember });
  expect(await mayDo(bo)).toEqual(["*:read", "presence:write"]);
  for (const isMember of [false, false]) await share(ada, { of: "member", id: boId, groupId, isMember });
  expect(await mayDo(bo)).toEqual([]);
});

it("nothing of another board or of the organization is shared", async () => {
  const { owner, ada, boId, share } = await openBoard();
  const { api } = owner;
  const other = (await visit(owner.id, "?name=Cleo")).data.token;
  const [theirs] = (await share(other)).data.groups;
  const { identity } = (await api.post<{ identity: { id: string } }>("/identities", { name: "Dan" })).data;
  const [ours] = (await share(ada)).data.groups;
  for (const body of [
    { of: "person", id: identityClaims(other).identityId, level: "editor" },
    { of: "person", id: identity.id, level: "editor" },
    { of: "group", id: theirs?.id, level: "editor" },
    { of: "member", id: identity.id, groupId: ours?.id, isMember: true },
    { of: "member", id: boId, groupId: theirs?.id, isMember: true },
  ])
    expect(refusalOf(await share(ada, body))).toEqual([404, "Access", "NOT_FOUND"]);
  for (const body of [{ of: "everyone", level: "owner" }, { of: "group", id: ours?.id, level: "none" }, {}])
    expect((await share(ada, body)).status).toBe(400);
});

it("links let in as many guests as the board has room for, until they are revoked", async () => {
  const { owner, ada } = await openBoard();
  const create = (link: object) =>
    askAs<Sharing & { secret: string }>(owner.id, ada, ["POST", "links", { permissions: "viewer", ...link }]);
  const { status, data } = await create({ maxUses: 40 });
  expect([status, data.links.length]).toEqual([201, 1]);
  expect(refusalOf(await create({ maxUses: 9 }))).toEqual([403, "Access", "FORBIDDEN"]);
  expect((await create({ maxUses: 8 })).status).toBe(201);
  expect((await create({})).status).toBe(400);
  const guest = await owner.api.post<Redeemed>("/links/redeem", { secret: data.secret, name: "Cleo" });
  expect(guest.data.room_id).toBe(boardOf(ada));
  const revoke = () => askAs<Sharing>(owner.id, ada, ["DELETE", `links/${data.links[0]?.id}`]);
  expect((await revoke()).data.links.map(({ max_uses }) => max_uses)).toEqual([8]);
  expect((await revoke()).status).toBe(404);
  const late = await owner.api.post("/links/redeem", { secret: data.secret, name: "Dan" });
  expect(late.status).toBe(404);
});
