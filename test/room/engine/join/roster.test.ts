/** R11 and R84: the users online, whole and page by page. */
import { expect, it } from "vitest";
import { Roster } from "../../../../src/room/engine/participants/roster.ts";
import type { RosterPlace } from "../../../../src/room/protocol/messages.ts";
import type { OpenSession } from "../../../../src/room/storage/storage.ts";
import type { User } from "../../../../src/wire/user.ts";

const session = (id: string, { name = id, joinedAt = 0 } = {}): OpenSession => ({
  ...{ id: `session of ${id}`, joinedAt },
  user: {
    ...{ id, accountId: "account", roomId: "room", name, profilePicture: null, customId: null },
    ...{ role: "editor", createdAt: 0 },
  },
});

/** A roster, and those who are online in it. */
function rosterOf(...sessions: readonly OpenSession[]) {
  const online = new Map<string, OpenSession>();
  const roster = new Roster(online);
  const come = (open: OpenSession) => {
    online.set(open.user.id, open);
    roster.add(open);
  };
  const leave = (id: string) => {
    online.delete(id);
    roster.outdate();
  };
  for (const each of sessions) come(each);
  const named = (text: string) => (JSON.parse(text) as User[]).map(({ name }) => name);
  const whole = () => named(roster.whole.text);
  const page = (limit: number, after?: RosterPlace) => {
    const { users, next } = roster.page(limit, after);
    return { names: named(users.text), next };
  };
  return { online, roster, come, leave, named, whole, page };
}

it("names those who are online, in the order in which they came, with their latest fields (R11)", () => {
  const { online, roster, come, leave, whole } = rosterOf();
  expect(whole()).toEqual([]);
  come(session("a"));
  come(session("b"));
  expect(whole()).toEqual(["a", "b"]);
  online.set("a", session("a", { name: "Adele" }));
  roster.outdate();
  come(session("c"));
  expect(whole()).toEqual(["Adele", "b", "c"]);
  leave("b");
  expect(whole()).toEqual(["Adele", "c"]);
});

it("keeps users in their places although the clock goes back (R84)", () => {
  const { come, whole, page } = rosterOf(session("a", { joinedAt: 20 }), session("b", { joinedAt: 30 }));
  const { next } = page(1);
  come(session("c", { joinedAt: 10 }));
  expect(whole()).toEqual(["c", "a", "b"]);
  expect(page(2, next)).toEqual({ names: ["b"], next: undefined });
});

it("goes on behind a user who has left, and skips no one who joined in the same moment (R84)", () => {
  const at = { joinedAt: 10 };
  const { leave, page } = rosterOf(session("a", at), session("b", at), session("c", at), session("d"));
  expect(page(1)).toMatchObject({ names: ["d"] });
  const { names, next } = page(3);
  expect([names, next]).toEqual([["d", "a", "b"], { joined_at: "1970-01-01T00:00:00.010Z", id: "b" }]);
  leave("b");
  expect(page(3, next)).toEqual({ names: ["a", "c"], next: undefined });
  for (const id of ["a", "c"]) leave(id);
  expect(page(3, next)).toEqual({ names: [], next: undefined });
});

it("begins the first page with the user that joins, unless it is on it (R11)", () => {
  const [a, b, c] = ["a", "b", "c"].map((id, joinedAt) => session(id, { joinedAt }));
  if (a === undefined || b === undefined || c === undefined) throw new Error("There are three");
  const { roster, named } = rosterOf(a, b, c);
  const first = (limit: number, own: OpenSession) => named(roster.firstPage(limit, own).users.text);
  expect([first(1, a), first(1, c), first(2, b), first(3, c)]).toEqual([
    ["a"],
    ["c", "a"],
    ["a", "b"],
    ["a", "b", "c"],
  ]);
  expect(roster.firstPage(2, c).next?.id).toBe("b");
});

it("has as many users on a page as fit into about 64 KiB (R84)", () => {
  const name = "✨".repeat(2_000);
  const { page } = rosterOf(...Array.from({ length: 50 }, (_, index) => session(`${index}`, { name })));
  const { names, next } = page(200);
  expect(names).toHaveLength(11);
  expect(next?.id).toBe("10");
});
