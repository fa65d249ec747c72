/** The function that decides what an identity may do in a room. */
import { expect, it } from "vitest";
import {
  ALL_RIGHTS,
  BAN,
  decideAccess,
  mayWrite,
  PRESETS,
  permissionsOf,
  READ,
  RESOURCES,
  rightsIn,
  rightsOf,
  rightsOfRole,
  roleOf,
} from "../../src/wire/permissions.ts";

it("puts an identity's own entry before its groups', and these before the default, resource by resource", () => {
  const levels = decideAccess({
    byDefault: ["*:write"],
    groups: [["comments:read"], ["comments:write", "files:read"]],
    identity: ["stores:read"],
  });
  expect(
    Object.fromEntries(levels.map(({ resource, level, source }) => [resource, `${level} by ${source}`])),
  ).toEqual({
    presence: "write by default",
    broadcasts: "write by default",
    stores: "read by identity",
    documents: "write by default",
    comments: "write by groups",
    files: "read by groups",
  });
});

it("lets no identity in without an entry, and keeps a banned identity out whatever else allows it", () => {
  expect(rightsOf(decideAccess({ byDefault: [], groups: [], identity: null }))).toBe(0);
  expect(rightsOf(decideAccess({ byDefault: ["*:write"], groups: [["*:write"]], identity: [BAN] }))).toBe(0);
});

it("names rights in the shortest way, and reads them back", () => {
  for (let rights = READ; rights <= ALL_RIGHTS; rights += 2)
    expect(rightsIn(permissionsOf(rights))).toBe(rights);
  expect(permissionsOf(0)).toEqual([]);
});

it("gives roles the rights that they have always had", () => {
  expect(RESOURCES.filter((each) => mayWrite(rightsOfRole("viewer"), each))).toEqual(["presence"]);
  expect([rightsOfRole("editor"), roleOf(rightsIn(PRESETS.editor))]).toEqual([ALL_RIGHTS, "editor"]);
  expect([PRESETS.viewer, PRESETS.commenter].map((preset) => roleOf(rightsIn(preset)))).toEqual([
    "viewer",
    "viewer",
  ]);
});
