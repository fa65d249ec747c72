/** Sharing a board: who may, what it changes, and for whom. */
import { expect, it } from "vitest";
import { account, refusalOf } from "../support/api.ts";
import { askAs, boardOf, identityClaims, visit } from "./visit.ts";

async function openBoard() {
  const owner = await account();
  const tokens = [];
  for (const name of ["Ada", "Bo"])
    tokens.push((await visit(owner.id, `?room=ours&name=${name}`)).data.token);
  const [ada, bo] = tokens;
  const share = (token: string | undefined, body?: object) =>
    askAs<{ everyone: string }>(owner.id, token, body ? ["PUT", "sharing", body] : ["GET", "sharing"]);
  const mayDo = async (token: string | undefined) => {
    const { identityId } = identityClaims(token);
    const path = `/rooms/${boardOf(token)}/access/check`;
    return (await owner.api.post<{ permissions: string[] }>(path, { identityId })).data.permissions;
  };
  return { owner, ada, bo, share, mayDo };
}

it("everyone who may edit shares the board, and the visitor who has opened it always does", async () => {
  const { ada, bo, share, mayDo } = await openBoard();
  expect((await share(bo)).data).toEqual({ everyone: "editor" });
  for (const everyone of ["viewer", "commenter"]) {
    expect((await share(ada, { everyone })).data).toEqual({ everyone });
    expect((await share(ada)).data).toEqual({ everyone });
    for (const body of [undefined, { everyone: "editor" }])
      expect(refusalOf(await share(bo, body))).toEqual([403, "Users", "FORBIDDEN"]);
  }
  expect(await mayDo(bo)).toContain("comments:write");
  expect(await mayDo(ada)).toContain("*:write");
});

it("a board without access lets no one in but the visitor who has opened it", async () => {
  const { owner, ada, bo, share, mayDo } = await openBoard();
  await share(ada, { everyone: "none" });
  expect((await share(ada)).data).toEqual({ everyone: "none" });
  expect([await mayDo(bo), await mayDo(ada)]).toEqual([[], expect.arrayContaining(["*:write"])]);
  const refused = await visit(owner.id, "?room=ours&name=Cleo");
  expect([refused.status, refused.error?.message]).toEqual([
    403,
    "You have no access to this board. Ask the person who shared it.",
  ]);
  await share(ada, { everyone: "viewer" });
  expect(await mayDo(bo)).toEqual(["*:read", "presence:write"]);
});

it("other levels are refused, and no other board is changed", async () => {
  const { owner, ada, share } = await openBoard();
  const other = (await visit(owner.id, "?name=Cleo")).data.token;
  for (const body of [{ everyone: "owner" }, { everyone: "none", of: "person" }, {}])
    expect((await share(ada, body)).status).toBe(400);
  await share(ada, { everyone: "none" });
  expect((await share(other)).data).toEqual({ everyone: "editor" });
});
