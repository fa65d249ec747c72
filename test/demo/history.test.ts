/** The history of a board: what the service lists of it, to whom, and the past that the page replays. */

import type { Room } from "@atrium/contract/resources/room.ts";
import type { User } from "@atrium/contract/resources/user.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Change, entriesAt, versionsOf } from "../../examples/demo/panels/versions.ts";
import { type Account, account, bearer } from "../support/api.ts";
import { askAs, visit } from "./visit.ts";

interface Listed {
  readonly changes: readonly Change[];
  readonly dropped_seq: number;
  readonly has_more: boolean;
}

const historyOf = (owner: Account, token: string | undefined, query = "", authorization?: string) =>
  askAs<Listed>(owner.id, token, ["GET", `history${query}`], authorization);

describe("GET /demo/history", () => {
  it("lists every change of the stores of the visitor's own board from the first one on, and no other board's", async () => {
    const owner = await account();
    const [ada, bo] = [await visit(owner.id, "?name=Ada"), await visit(owner.id, "?name=Bo")];
    const { rooms } = (await owner.api.get<{ rooms: Room[] }>("/rooms")).data;
    const board = rooms.find(({ custom_id }) => custom_id === `demo:${ada.data.room}`);
    const path = `/rooms/${board?.id}/stores/notes/one`;
    for (const text of ["M", "Milk"]) await owner.api.put(path, { value: { text } });
    await owner.api.delete(path);
    await owner.api.put(path, { value: { text: "Bread" } });
    const { users } = (await owner.api.get<{ users: User[] }>(`/users?roomId=${board?.id}`)).data;
    await owner.api.post(`/rooms/${board?.id}/comments`, { userId: users[0]?.id, text: "Shall we begin?" });
    const { data } = await historyOf(owner, ada.data.token);
    expect([data.dropped_seq, data.has_more]).toEqual([0, false]);
    const values = (listed: Listed) =>
      listed.changes.filter(({ key }) => key === "one").map(({ value }) => value);
    expect(values(data)).toEqual([{ text: "M" }, { text: "Milk" }, null, { text: "Bread" }]);
    const afterwards = await historyOf(owner, ada.data.token, `?after=${data.changes.at(-2)?.seq}`);
    expect(afterwards.data.changes).toEqual(data.changes.slice(-1));
    const others = await historyOf(owner, bo.data.token);
    expect([others.data.changes.length, values(others.data)]).toEqual([data.changes.length - 4, []]);
  });

  it("refuses callers without a visitor's token", async () => {
    const owner = await account();
    const { id } = await owner.api.createRoom({ customId: "demonstration" });
    const { token } = await owner.api.createUser(id);
    const { data } = await visit(owner.id, "?name=Ada");
    for (const [credential, status] of [
      ["Bearer nonsense", 401],
      [`Bearer ${token}`, 403],
      [bearer(owner.id, owner.apiKey), 403],
    ] as const)
      expect((await historyOf(owner, data.token, "", credential)).status).toBe(status);
    expect((await historyOf(owner, data.token, "?after=-1")).status).toBe(400);
  });
});

const STORES = ["notes", "shapes"];
const Step = fc.record({
  store: fc.constantFrom(...STORES),
  key: fc.constantFrom("a", "b", "__proto__"),
  value: fc.option(fc.record({ text: fc.string({ maxLength: 5 }), x: fc.nat(3) })),
  by: fc.constantFrom(null, "ada", "bo"),
  waitMs: fc.constantFrom(0, 40, 1_500, 5_000),
});

it("all changes together are the present, however many are no longer kept, and each version is what it was", () => {
  fc.assert(
    fc.property(fc.array(Step, { maxLength: 40 }), fc.nat(40), (steps, dropped) => {
      const now = new Map<string, Change>();
      const entriesOf = (store: string) =>
        new Map(
          [...now.values()].flatMap((entry) => (entry.store === store ? [[entry.key, entry.value]] : [])),
        );
      const stateNow = () => STORES.map(entriesOf);
      const states: unknown[] = [stateNow()];
      let ms = Date.UTC(2026, 0, 1);
      const changes = steps.map(({ waitMs, ...step }, index): Change => {
        ms += waitMs;
        const change = { ...step, seq: index + 1, at: new Date(ms).toISOString() };
        const name = `${step.store}/${step.key}`;
        if (step.value === null) now.delete(name);
        else now.set(name, change);
        states.push(stateNow());
        return change;
      });
      const start = [...now.values()].filter(({ seq }) => seq <= dropped);
      const past = { start, changes: changes.slice(dropped) };
      const stateAt = (count: number) => STORES.map((store) => entriesAt(past, count, store));
      expect(stateAt(past.changes.length)).toEqual(states.at(-1));
      const versions = versionsOf(past);
      expect(versions.at(-1)?.count ?? 0).toBe(past.changes.length);
      if (dropped === 0) for (const { count } of versions) expect(stateAt(count)).toEqual(states[count]);
    }),
  );
});

it("a version says what was done, and takes together what was done without a pause", () => {
  const change = (
    seq: number,
    at: string,
    key: string,
    value: unknown,
    by: string | null = "ada",
  ): Change => ({
    seq,
    at: `2026-01-31T09:00:${at}Z`,
    store: key.startsWith("s") ? "shapes" : "notes",
    key,
    value,
    by,
  });
  const oval = { kind: "oval", tint: 1, points: [0, 0, 9, 9] };
  const changes = [
    change(1, "00.000", "n1", { x: 0, y: 0, text: "Hi" }, null),
    change(2, "00.001", "s1", oval, null),
    change(3, "10.000", "n2", { x: 1, y: 1, text: "" }),
    change(4, "11.000", "n2", { x: 1, y: 1, text: "Mi" }),
    change(5, "12.000", "n2", { x: 1, y: 1, text: "Milk" }),
    change(6, "20.000", "n2", { x: 5, y: 1, text: "Milk" }, "bo"),
    change(7, "21.000", "s1", null, "bo"),
    change(8, "30.000", "n2", null, "bo"),
    change(9, "40.000", "n1", { x: 9, y: 9, text: "Hi" }),
    change(10, "40.001", "s2", oval),
    change(11, "50.000", "n3", { x: 1, y: 1, text: { toString: 1, valueOf: 1 } }),
  ];
  expect(versionsOf({ start: [], changes }).map(({ count, by, deed }) => [count, by, deed])).toEqual([
    [2, null, "opened the board"],
    [5, "ada", "wrote “Milk”"],
    [6, "bo", "moved “Milk”"],
    [7, "bo", "erased an oval"],
    [8, "bo", "deleted “Milk”"],
    [10, "ada", "changed 2 things"],
    [11, "ada", "wrote a note"],
  ]);
});
