/** R11 and R84: the users online, whole and page by page. */

import type { OnlinePlace } from "@atrium/contract/operations/presence.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import { expect, it } from "vitest";
import {
  allOnline,
  firstOnlinePage,
  onlinePage,
} from "../../../../src/room/engine/participants/online-users.ts";
import type { OpenSession } from "../../../../src/room/storage/storage.ts";
import { openSession as session } from "../../support/rows.ts";

const named = (users: readonly User[]) => users.map(({ name }) => name);

function page(sessions: readonly OpenSession[], limit: number, after?: OnlinePlace) {
  const { users, next } = onlinePage(sessions, limit, after);
  return { names: named(users), next };
}

it("keeps users in the order in which they came, although the clock goes back (R11, R84)", () => {
  const sessions = [session("a", { joinedAt: 20 }), session("b", { joinedAt: 30 })];
  const { next } = page(sessions, 1);
  const withLate = [...sessions, session("c", { joinedAt: 10 })];
  expect(named(allOnline(withLate))).toEqual(["c", "a", "b"]);
  expect(page(withLate, 2, next)).toEqual({ names: ["b"], next: undefined });
});

it("goes on behind a user who has left, and skips no one who joined in the same moment (R84)", () => {
  const at = { joinedAt: 10 };
  const sessions = [session("a", at), session("b", at), session("c", at), session("d")];
  expect(page(sessions, 1)).toMatchObject({ names: ["d"] });
  const { names, next } = page(sessions, 3);
  expect([names, next]).toEqual([["d", "a", "b"], { joined_at: "1970-01-01T00:00:00.010Z", id: "b" }]);
  const without = (...ids: readonly string[]) => sessions.filter(({ user }) => !ids.includes(user.id));
  expect(page(without("b"), 3, next)).toEqual({ names: ["a", "c"], next: undefined });
  expect(page(without("a", "b", "c"), 3, next)).toEqual({ names: [], next: undefined });
});

it("begins the first page with the user that joins, unless it is on it (R11)", () => {
  const [a, b, c] = ["a", "b", "c"].map((id, joinedAt) => session(id, { joinedAt }));
  if (a === undefined || b === undefined || c === undefined) throw new Error("There are three");
  const first = (limit: number, own: OpenSession) => named(firstOnlinePage([a, b, c], limit, own).users);
  expect([first(1, a), first(1, c), first(2, b), first(3, c)]).toEqual([
    ["a"],
    ["c", "a"],
    ["a", "b"],
    ["a", "b", "c"],
  ]);
  expect(firstOnlinePage([a, b, c], 2, c).next?.id).toBe("b");
});

it("has as many users on a page as fit into about 64 KiB (R84)", () => {
  const name = "✨".repeat(2_000);
  const sessions = Array.from({ length: 50 }, (_, index) => session(`${index}`, { name }));
  const { names, next } = page(sessions, 200);
  expect(names).toHaveLength(11);
  expect(next?.id).toBe("10");
});
