/** The names of a board and its visitors: who may change them, and who sees it. */
import { env } from "cloudflare:workers";
import type { Room } from "@atrium/contract/resources/room.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import { expect, it } from "vitest";
import { account, bearer, refusalOf } from "../support/api.ts";
import { expectLogged } from "../support/log-guard.ts";
import { askAs, boardOf, identityClaims, visit } from "./visit.ts";

it("visitors rename themselves, and the board as long as they may edit it", async () => {
  const owner = await account();
  const [ada, bo] = [
    (await visit(owner.id, "?room=ours&name=Ada")).data.token,
    (await visit(owner.id, "?room=ours&name=Bo")).data.token,
  ];
  const rename = (what: string, name: string, token = bo) =>
    askAs<{ name: string }>(owner.id, token, ["PUT", what, { name }]);
  expect((await rename("visitor", "Robert")).data).toEqual({ name: "Robert" });
  expect((await rename("board", "Picnic")).data).toEqual({ name: "Picnic" });
  const { room } = (await owner.api.get<{ room: Room }>(`/rooms/${boardOf(ada)}`)).data;
  expect(room.name).toBe("Picnic");
  const { users } = (await owner.api.get<{ users: User[] }>(`/users?roomId=${room.id}`)).data;
  expect(users.map(({ name }) => name).sort()).toEqual(["Ada", "Robert"]);
  const path = `/identities/${identityClaims(bo).identityId}`;
  expect((await owner.api.get<{ identity: { name: string } }>(path)).data.identity.name).toBe("Robert");

  await askAs(owner.id, ada, ["PUT", "sharing", { everyone: "viewer" }]);
  expect(refusalOf(await rename("board", "Mine"))).toEqual([403, "Users", "FORBIDDEN"]);
  expect((await rename("visitor", "Bob")).status).toBe(200);
  for (const what of ["visitor", "board"]) {
    expect((await rename(what, "", ada)).status).toBe(400);
    expect((await askAs(owner.id, ada, ["PUT", what, { name: "Ada", role: "owner" }])).status).toBe(400);
    const key = bearer(owner.id, owner.apiKey);
    const byOrganization = await askAs(owner.id, ada, ["PUT", what, { name: "Ada" }], key);
    expect(refusalOf(byOrganization)).toEqual([403, "Users", "FORBIDDEN"]);
  }
});

it("a name has no blanks around it, and is not of blanks alone", async () => {
  const owner = await account();
  const { token } = (await visit(owner.id, "?name=%20Ada%20")).data;
  for (const what of ["visitor", "board"]) {
    const rename = (name: string) => askAs<{ name: string }>(owner.id, token, ["PUT", what, { name }]);
    expect((await rename(" Robert\t")).data).toEqual({ name: "Robert" });
    expect(refusalOf(await rename(" \u00a0 "))).toEqual([400, "Users", "VALIDATION_ERROR"]);
  }
  expect((await visit(owner.id, "?name=%20")).status).toBe(400);
});

it("a visitor whose rename fails has one name still", async () => {
  const owner = await account();
  const { token } = (await visit(owner.id, "?name=Ada")).data;
  const { identityId } = identityClaims(token);
  await env.DB.prepare(
    `CREATE TRIGGER failing BEFORE UPDATE OF name ON users WHEN new.identity_id = '${identityId}'
     BEGIN SELECT RAISE(ABORT, 'The disk failed'); END`,
  ).run();
  expect((await askAs(owner.id, token, ["PUT", "visitor", { name: "Robert" }])).status).toBe(500);
  expectLogged("The disk failed");
  await env.DB.exec("DROP TRIGGER failing");
  const { identity } = (await owner.api.get<{ identity: { name: string } }>(`/identities/${identityId}`))
    .data;
  expect(identity.name).toBe("Ada");
});

it("helpers keep their names, which no one gives another one", async () => {
  const owner = await account();
  const { token } = (await visit(owner.id, "?name=Ada")).data;
  const { tokens } = (await askAs<{ tokens: string[] }>(owner.id, token, ["POST", "helpers"])).data;
  const renamed = await askAs(owner.id, tokens[0], ["PUT", "visitor", { name: "Ada" }]);
  expect(refusalOf(renamed)).toEqual([403, "Users", "FORBIDDEN"]);
  const { users } = (await owner.api.get<{ users: User[] }>(`/users?roomId=${boardOf(token)}`)).data;
  expect(users.map(({ name }) => name).sort()).toEqual(["Ada", "Helper Juno", "Helper Pip"]);
});
