/**
 * Access on the facts that public authorization models are tested with: members of groups, grants to people and groups,
 * public access and blocks. The shapes follow OpenFGA's sample stores (gdrive, slack, github, file-storage and
 * knowledge-base; Apache License 2.0), and blocks its guide to blocklists. Rooms have no parents, so what a folder or
 * an organization passes on stands with the room. All names and tables are Atrium's own.
 */

import { BAN, PRESETS } from "@atrium/contract/resources/permissions.ts";
import type { AccessDecision } from "@atrium/contract/rest/access.ts";
import { expect, it } from "vitest";
import { type Account, account } from "../support/api.ts";

const ENTRIES = { ...PRESETS, none: [BAN] } as const;
type Preset = keyof typeof PRESETS;
/** People or groups by the preset that they have; each list is words. */
type Lists<Name extends string> = Partial<Record<Name, string>>;

interface SharedRoom {
  readonly open?: Preset;
  readonly groups?: Lists<Preset>;
  readonly people?: Lists<Preset | "none">;
  /** Everyone, by their access. */
  readonly answers: Lists<Preset | "none">;
}

interface Model {
  readonly groups: Readonly<Record<string, string>>;
  readonly rooms: Readonly<Record<string, SharedRoom>>;
}

const MODELS: Readonly<Record<string, Model>> = {
  "files of a company, shared with partners": {
    groups: { studio: "ada bo", partners: "chen" },
    rooms: {
      // Ada owns the folder, which partners may read; Bo was given the file.
      plan: {
        groups: { viewer: "partners" },
        people: { editor: "ada", viewer: "bo" },
        answers: { editor: "ada", viewer: "bo chen", none: "dora" },
      },
      "published plan": {
        open: "viewer",
        groups: { viewer: "partners" },
        people: { editor: "ada" },
        answers: { editor: "ada", viewer: "bo chen dora" },
      },
    },
  },
  "channels of a workspace with a guest": {
    groups: { workspace: "ada bo chen emil" },
    rooms: {
      general: { people: { editor: "emil" }, answers: { editor: "emil", none: "ada bo chen dora" } },
      "internal news": {
        people: { editor: "bo emil" },
        answers: { editor: "bo emil", none: "ada chen dora" },
      },
      campaign: {
        groups: { editor: "workspace" },
        people: { editor: "dora" },
        answers: { editor: "ada bo chen dora emil", none: "finn" },
      },
    },
  },
  "a project of teams, one inside the other": {
    groups: { core: "chen dora", backend: "dora", company: "emil" },
    rooms: {
      project: {
        groups: { editor: "core company" },
        people: { viewer: "ada", commenter: "bo" },
        answers: { editor: "chen dora emil", commenter: "bo", viewer: "ada", none: "finn" },
      },
    },
  },
  "a drive with folders of teams": {
    groups: { everyone: "bo chen", engineers: "chen" },
    rooms: {
      "shared drive": {
        groups: { viewer: "everyone" },
        people: { editor: "ada" },
        answers: { editor: "ada", viewer: "bo chen", none: "dora" },
      },
      "engineers' folder": {
        groups: { viewer: "everyone", editor: "engineers" },
        people: { editor: "ada" },
        answers: { editor: "ada chen", viewer: "bo", none: "dora" },
      },
    },
  },
  "a handbook that its writers edit and all may read": {
    groups: { writers: "bo dora", staff: "bo chen" },
    rooms: {
      handbook: {
        groups: { viewer: "staff", editor: "writers" },
        people: { editor: "ada" },
        answers: { editor: "ada bo dora", viewer: "chen", none: "emil" },
      },
      questions: {
        open: "viewer",
        people: { editor: "bo" },
        answers: { editor: "bo", viewer: "ada chen emil" },
      },
    },
  },
  "a plan from which a member of its team is blocked": {
    groups: { team: "ada bo" },
    rooms: {
      "before the block": { groups: { editor: "team" }, answers: { editor: "ada bo", none: "chen" } },
      "after the block": {
        groups: { editor: "team" },
        people: { none: "bo" },
        answers: { editor: "ada", none: "bo chen" },
      },
      "blocked although it is public": {
        open: "commenter",
        groups: { editor: "team" },
        people: { none: "bo chen" },
        answers: { editor: "ada", commenter: "dora", none: "bo chen" },
      },
    },
  },
};

const wordsOf = (list = ""): string[] => list.split(" ").filter((word) => word !== "");

/** Each name in the lists, with its preset. */
const entriesIn = <Name extends string>(lists: Lists<Name> = {}) =>
  (Object.entries(lists) as [Name, string][]).flatMap(([preset, names]) =>
    wordsOf(names).map((name) => ({ name, preset })),
  );

const idOf = async ({ api }: Account, path: string, name: string): Promise<string> => {
  const { data } = await api.post<Record<string, { id: string }>>(path, { name });
  return Object.values(data)[0]?.id ?? "";
};

/** The IDs of these names, each made once. */
async function madeFor(owner: Account, path: string, names: Iterable<string>): Promise<Map<string, string>> {
  const made = new Map<string, string>();
  for (const name of new Set(names)) made.set(name, await idOf(owner, path, name));
  return made;
}

/** The body's field for these lists, by ID. */
const accessesIn = <Name extends keyof typeof ENTRIES>(
  lists: Lists<Name> | undefined,
  ids: Map<string, string>,
) =>
  Object.fromEntries(
    entriesIn(lists).map(({ name, preset }) => [ids.get(name), preset === "none" ? ENTRIES.none : preset]),
  );

it.each(Object.entries(MODELS))("%s: each person has its access, and no other", async (_, model) => {
  const owner = await account();
  const rooms = Object.entries(model.rooms);
  const everyone = rooms.flatMap(([, { answers }]) => entriesIn(answers).map(({ name }) => name));
  const people = await madeFor(owner, "/identities", everyone);
  const groups = await madeFor(owner, "/groups", Object.keys(model.groups));
  for (const [group, members] of Object.entries(model.groups))
    for (const name of wordsOf(members))
      await owner.api.put(`/groups/${groups.get(group)}/members/${people.get(name)}`);
  for (const [name, room] of rooms) {
    const path = `/rooms/${await idOf(owner, "/rooms", name)}/access`;
    const body = {
      defaultAccesses: room.open ?? [],
      groupsAccesses: accessesIn(room.groups, groups),
      identitiesAccesses: accessesIn(room.people, people),
    };
    expect((await owner.api.put(path, body)).status).toBe(200);
    for (const { name: person, preset } of entriesIn(room.answers)) {
      const question = { identityId: people.get(person) };
      const { permissions } = (await owner.api.post<AccessDecision>(`${path}/check`, question)).data;
      expect([name, person, permissions]).toEqual([name, person, preset === "none" ? [] : PRESETS[preset]]);
    }
  }
});
