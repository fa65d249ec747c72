/** The function that decides the access of an identity, against tables that spell out every answer. */

import {
  type Access,
  ALL_RIGHTS,
  BAN,
  decideAccess,
  maySuggest,
  mayWrite,
  onlyRead,
  Permission,
  PRESETS,
  permissionsOf,
  READ,
  RESOURCES,
  type Resource,
  rightsIn,
  rightsOf,
  rightsOfRole,
  roleOf,
} from "@atrium/contract/resources/permissions.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

type Entry = readonly Permission[];

/** The levels of each entry for stores, and for any other resource: `w`rite, `r`ead or nothing (`-`). */
const ENTRIES = `
  nothing                                          -  -
  *:read                                           r  r
  *:write                                          w  w
  *:read *:write                                   w  w
  stores:read                                      r  -
  stores:read *:read                               r  r
  stores:read *:write                              r  w
  stores:read *:read *:write                       r  w
  stores:write                                     w  -
  stores:write *:read                              w  r
  stores:write *:write                             w  w
  stores:write *:read *:write                      w  w
  stores:read stores:write                         w  -
  stores:read stores:write *:read                  w  r
  stores:read stores:write *:write                 w  w
  stores:read stores:write *:read *:write          w  w`
  .trim()
  .split("\n")
  .map((line) => line.trim().split(/\s+/))
  .map((words) => ({
    entry: words.slice(0, -2).filter((word) => word !== "nothing") as Entry,
    says: { stores: words.at(-2) ?? "", other: words.at(-1) ?? "" },
  }));

/** The level of two groups together. */
const HIGHEST: Readonly<Record<string, string>> = {
  ...{ "--": "-", "-r": "r", "-w": "w" },
  ...{ "r-": "r", rr: "r", rw: "w" },
  ...{ "w-": "w", wr: "w", ww: "w" },
};

/** Decisions by the entries of the identity, its groups and the default, in this order. */
const DECISIONS: Readonly<Record<string, string>> = {
  ...{ "---": "none", "--r": "read by default", "--w": "write by default" },
  ...{ "-r-": "read by groups", "-rr": "read by groups", "-rw": "read by groups" },
  ...{ "-w-": "write by groups", "-wr": "write by groups", "-ww": "write by groups" },
  ...{ "r--": "read by identity", "r-r": "read by identity", "r-w": "read by identity" },
  ...{ "rr-": "read by identity", rrr: "read by identity", rrw: "read by identity" },
  ...{ "rw-": "read by identity", rwr: "read by identity", rww: "read by identity" },
  ...{ "w--": "write by identity", "w-r": "write by identity", "w-w": "write by identity" },
  ...{ "wr-": "write by identity", wrr: "write by identity", wrw: "write by identity" },
  ...{ "ww-": "write by identity", wwr: "write by identity", www: "write by identity" },
};

const decisionsOf = (access: Access): Record<string, string> =>
  Object.fromEntries(
    decideAccess(access).map(({ resource, level, source }) => [
      resource,
      source === null ? level : `${level} by ${source}`,
    ]),
  );

const expected = (decision: (about: "stores" | "other") => string | undefined) =>
  Object.fromEntries(RESOURCES.map((each) => [each, decision(each === "stores" ? "stores" : "other")]));

describe("the access of an identity", () => {
  it("is decided by its own entry, then by its groups, then by the default, for every triple of entries", () => {
    const wrong: unknown[] = [];
    for (const own of ENTRIES)
      for (const group of ENTRIES)
        for (const open of ENTRIES) {
          const access = { identity: own.entry, groups: [group.entry], byDefault: open.entry };
          const answer = expected(
            (about) => DECISIONS[own.says[about] + group.says[about] + open.says[about]],
          );
          if (JSON.stringify(decisionsOf(access)) !== JSON.stringify(answer)) wrong.push({ access, answer });
        }
    expect(wrong).toEqual([]);
  });

  it("has the highest level of its groups, for every pair of them", () => {
    for (const one of ENTRIES)
      for (const two of ENTRIES)
        for (const open of ENTRIES) {
          const access = { identity: null, groups: [one.entry, two.entry], byDefault: open.entry };
          const answer = expected(
            (about) => DECISIONS[`-${HIGHEST[one.says[about] + two.says[about]]}${open.says[about]}`],
          );
          expect(decisionsOf(access)).toEqual(answer);
        }
  });

  it("is a ban whatever else its entry, its groups and the default say", () => {
    for (const own of ENTRIES)
      for (const { entry } of ENTRIES)
        for (const identity of [[BAN, ...own.entry] as const, [...own.entry, BAN] as const]) {
          const access = { identity, groups: [entry, ["*:write"]] as const, byDefault: entry };
          expect(decisionsOf(access)).toEqual(expected(() => "none by identity"));
          expect(rightsOf(decideAccess(access))).toBe(0);
        }
  });

  it("is nothing where no one has an entry", () => {
    expect(rightsOf(decideAccess({ byDefault: [], groups: [], identity: null }))).toBe(0);
  });
});

const entries = fc.uniqueArray(fc.constantFrom(...Permission.options), { maxLength: 5 });
const accesses = fc.record({
  byDefault: entries,
  groups: fc.array(entries, { maxLength: 4 }),
  identity: fc.option(
    fc.oneof({ weight: 9, arbitrary: entries }, { weight: 1, arbitrary: fc.constant([BAN]) }),
  ),
}) as fc.Arbitrary<Access>;

const RANKS = ["none", "read", "suggest", "write"];
const levelsOf = (access: Access) => decideAccess(access).map(({ level }) => RANKS.indexOf(level));

describe("any access", () => {
  it("loses nothing by a further group, except what only the default allowed", () => {
    fc.assert(
      fc.property(accesses, entries, (access, group) => {
        const before = decideAccess(access);
        const after = decideAccess({ ...access, groups: [...access.groups, group] });
        for (const [index, { level, source }] of before.entries()) {
          const next = after[index];
          if (next?.source === source)
            expect(RANKS.indexOf(next.level)).toBeGreaterThanOrEqual(RANKS.indexOf(level));
          else expect([source, next?.source]).toEqual([expect.toBeOneOf(["default", null]), "groups"]);
        }
      }),
    );
  });

  it("is the same in any order of permissions and of groups, and with any of them twice", () => {
    const shuffled = fc.tuple(accesses, fc.infiniteStream(fc.nat())).map(([access, numbers]) => {
      const shuffle = <T>(list: readonly T[]): T[] =>
        [...list, ...list]
          .map((item) => ({ item, at: numbers.next().value ?? 0 }))
          .sort((one, other) => one.at - other.at)
          .map(({ item }) => item);
      const groups = shuffle(access.groups).map(shuffle);
      const identity = access.identity && shuffle(access.identity);
      return [access, { byDefault: shuffle(access.byDefault), groups, identity }] as const;
    });
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        expect(decisionsOf(other)).toEqual(decisionsOf(one));
      }),
    );
  });

  it("decides what its identity's entry names by that entry alone", () => {
    fc.assert(
      fc.property(accesses, accesses, ({ identity }, others) => {
        const alone = decideAccess({ byDefault: [], groups: [], identity });
        const decided = decideAccess({ ...others, identity });
        for (const [index, own] of alone.entries())
          if (own.source === "identity") expect(decided[index]).toEqual(own);
          else expect(decided[index]?.source).not.toBe("identity");
      }),
    );
  });

  it("decides each resource by what is said of it and of all, and of no other", () => {
    const about = (resource: Resource, list: readonly string[]) =>
      list.filter((name) => [resource, "*", BAN].includes(name.split(":")[0] ?? "")) as Permission[];
    fc.assert(
      fc.property(accesses, fc.constantFrom(...RESOURCES), (access, resource) => {
        const only = {
          byDefault: about(resource, access.byDefault),
          groups: access.groups.map((group) => about(resource, group)),
          identity: access.identity && about(resource, access.identity),
        };
        const index = RESOURCES.indexOf(resource);
        expect(decideAccess(only)[index]).toEqual(decideAccess(access)[index]);
      }),
    );
  });

  it("gives the right to write what it says, and to read all as soon as it says anything", () => {
    fc.assert(
      fc.property(accesses, (access) => {
        const [levels, rights] = [levelsOf(access), rightsOf(decideAccess(access))];
        expect(RESOURCES.map((each) => mayWrite(rights, each))).toEqual(levels.map((level) => level === 3));
        expect((rights & READ) !== 0).toBe(levels.some((level) => level > 0));
      }),
    );
  });
});

describe("rights", () => {
  it("are named in the shortest way, and read back", () => {
    const suggesting = rightsIn(["documents:suggest"]);
    for (let rights = READ; rights <= ALL_RIGHTS; rights += 2) {
      const whole = mayWrite(rights, "documents") ? rights | suggesting : rights;
      expect(rightsIn(permissionsOf(rights))).toBe(whole);
    }
    expect(permissionsOf(0)).toEqual([]);
    fc.assert(
      fc.property(entries, (permissions) => {
        expect(rightsIn(permissionsOf(rightsIn(permissions)))).toBe(rightsIn(permissions));
      }),
    );
  });

  it("to suggest are between reading and writing documents, and of no other resource", () => {
    const suggesting = rightsIn(["documents:suggest"]);
    expect([maySuggest(suggesting), mayWrite(suggesting, "documents")]).toEqual([true, false]);
    expect([onlyRead(suggesting), roleOf(suggesting)]).toEqual([false, "viewer"]);
    expect(maySuggest(rightsIn(["documents:write"]) & suggesting)).toBe(true);
    expect(maySuggest(rightsIn(["stores:write"]))).toBe(false);
    expect(maySuggest(rightsIn(["*:write", "documents:suggest"]))).toBe(true);
    expect(mayWrite(rightsIn(["*:write", "documents:suggest"]), "documents")).toBe(false);
    expect(permissionsOf(suggesting)).toEqual(["*:read", "documents:suggest"]);
    const storedBefore = 0xff;
    expect([permissionsOf(storedBefore), maySuggest(storedBefore)]).toEqual([["*:write"], true]);
  });

  it("of roles are those that they have always had", () => {
    expect(RESOURCES.filter((each) => mayWrite(rightsOfRole("viewer"), each))).toEqual(["presence"]);
    expect([rightsOfRole("editor"), roleOf(rightsIn(PRESETS.editor))]).toEqual([ALL_RIGHTS, "editor"]);
    expect([PRESETS.viewer, PRESETS.commenter].map((preset) => roleOf(rightsIn(preset)))).toEqual([
      "viewer",
      "viewer",
    ]);
  });
});
