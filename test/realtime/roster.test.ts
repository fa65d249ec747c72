/** R11: the users online, whose JSON is kept between joins. */
import { expect, it } from "vitest";
import { Roster } from "../../src/realtime/participants/roster.ts";
import type { OpenSession } from "../../src/realtime/storage/storage.ts";
import type { User } from "../../src/users/schema.ts";

const session = (id: string, name: string): OpenSession => ({
  ...{ id: `session of ${id}`, joinedAt: 0 },
  user: {
    ...{ id, accountId: "account", roomId: "room", name, profilePicture: null, customId: null },
    ...{ role: "editor", createdAt: 0 },
  },
});

it("names those who are online, in the order in which they came, with their latest fields (R11)", () => {
  const roster = new Roster();
  const online: OpenSession[] = [];
  const names = () => (JSON.parse(roster.text(online).text) as User[]).map(({ name }) => name);
  const come = (open: OpenSession) => {
    online.push(open);
    roster.add(open);
  };
  expect(names()).toEqual([]);
  come(session("a", "Ada"));
  come(session("b", "Ben"));
  expect(names()).toEqual(["Ada", "Ben"]);
  online[0] = session("a", "Adele");
  roster.outdate();
  come(session("c", "Cy"));
  expect(names()).toEqual(["Adele", "Ben", "Cy"]);
  online.splice(1, 1);
  roster.outdate();
  expect(names()).toEqual(["Adele", "Cy"]);
});
