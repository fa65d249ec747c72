/** R11 and R84: the users online, whole and page by page. */
import { expect, it } from "vitest";
import { OnlineUsers } from "../../../../src/room/engine/participants/online-users.ts";
import type { OnlinePlace } from "../../../../src/room/protocol/messages.ts";
import type { OpenSession } from "../../../../src/room/storage/storage.ts";
import type { User } from "../../../../src/wire/user.ts";
import { openSession as session } from "../../support/rows.ts";

/** The users online, with the sessions that they are listed from. */
function onlineUsersOf(...sessions: readonly OpenSession[]) {
  const online = new Map<string, OpenSession>();
  const onlineUsers = new OnlineUsers(online);
  const come = (open: OpenSession) => {
    online.set(open.user.id, open);
    onlineUsers.add(open);
  };
  const leave = (id: string) => {
    online.delete(id);
    onlineUsers.outdate();
  };
  for (const each of sessions) come(each);
  const named = (text: string) => (JSON.parse(text) as User[]).map(({ name }) => name);
  const whole = () => named(onlineUsers.whole.text);
  const page = (limit: number, after?: OnlinePlace) => {
    const { users, next } = onlineUsers.page(limit, after);
    return { names: named(users.text), next };
  };
  return { online, onlineUsers, come, leave, named, whole, page };
}

it("names those who are online, in the order in which they came, with their latest fields (R11)", () => {
  const { online, onlineUsers, come, leave, whole } = onlineUsersOf();
  expect(whole()).toEqual([]);
  come(session("a"));
  come(session("b"));
  expect(whole()).toEqual(["a", "b"]);
  online.set("a", session("a", { name: "Adele" }));
  onlineUsers.outdate();
  come(session("c"));
  expect(whole()).toEqual(["Adele", "b", "c"]);
  leave("b");
  expect(whole()).toEqual(["Adele", "c"]);
});

it("keeps users in their places although the clock goes back (R84)", () => {
  const { come, whole, page } = onlineUsersOf(session("a", { joinedAt: 20 }), session("b", { joinedAt: 30 }));
  const { next } = page(1);
  come(session("c", { joinedAt: 10 }));
  expect(whole()).toEqual(["c", "a", "b"]);
  expect(page(2, next)).toEqual({ names: ["b"], next: undefined });
});

it("goes on behind a user who has left, and skips no one who joined in the same moment (R84)", () => {
  const at = { joinedAt: 10 };
  const { leave, page } = onlineUsersOf(session("a", at), session("b", at), session("c", at), session("d"));
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
  const { onlineUsers, named } = onlineUsersOf(a, b, c);
  const first = (limit: number, own: OpenSession) => named(onlineUsers.firstPage(limit, own).users.text);
  expect([first(1, a), first(1, c), first(2, b), first(3, c)]).toEqual([
    ["a"],
    ["c", "a"],
    ["a", "b"],
    ["a", "b", "c"],
  ]);
  expect(onlineUsers.firstPage(2, c).next?.id).toBe("b");
});

it("has as many users on a page as fit into about 64 KiB (R84)", () => {
  const name = "✨".repeat(2_000);
  const { page } = onlineUsersOf(...Array.from({ length: 50 }, (_, index) => session(`${index}`, { name })));
  const { names, next } = page(200);
  expect(names).toHaveLength(11);
  expect(next?.id).toBe("10");
});
