/** The mentions of a text that is being written, and of one that is read. */

import type { User } from "atrium/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Draft,
  draftOf,
  edited,
  joined,
  matchesOf,
  mentionAt,
  mentionsIn,
} from "../../../packages/sdk/react-ui/mentions.ts";
import { partsOf } from "../../../packages/sdk/react-ui/text-parts.ts";

const typedAt = (text: string) => mentionAt(text, text.length)?.name ?? null;

const mentionTextsOf = (text: string, ...names: string[]) =>
  partsOf(text, names, () => null).flatMap((part) => (part.type === "mention" ? part.text : []));

/** Chooses a user from the list, as the field does. */
function choose({ text, mentions }: Draft, name: string, who = name): Draft {
  const start = mentionAt(text, text.length)?.start ?? text.length;
  const end = start + name.length + 1;
  const next = `${text.slice(0, start)}@${name} `;
  const range = { start, end: text.length };
  return {
    text: next,
    mentions: [...edited({ text, mentions }, next, next.length, range).mentions, { start, end, who }],
  };
}

const type = (draft: Draft, text: string): Draft =>
  edited(draft, draft.text + text, draft.text.length + text.length);
const erase = (draft: Draft, characters: number): Draft =>
  edited(draft, draft.text.slice(0, -characters), draft.text.length - characters);

const EMPTY: Draft = { text: "", mentions: [] };

describe("the list of users", () => {
  it.each([
    ["@", ""],
    ["Tea, @an", "an"],
    ["(@an", "an"],
    ["[@an", "an"],
    ["（@an", "an"],
    ["「@an", "an"],
    ["【@an", "an"],
    ['"@an', "an"],
    ["今日は@佐", "佐"],
    ["確認お願いします。@佐", "佐"],
    ["タスク@", ""],
    ["안녕@김", "김"],
    ["สวัสดี@ก", "ก"],
    ["请@王", "王"],
    ["お願い＠佐藤", "佐藤"],
    ["a\n@bo berg", "bo berg"],
    ["🎉@bo", "bo"],
  ])("opens after %s", (text, name) => {
    expect(typedAt(text)).toBe(name);
  });

  it.each(["ada@ex", "ada_@ex", "1@ex", "é@ex", "https://ex.com/@ada", "@@ada", "@a b c d"])(
    "does not open within a word, an address or a sentence: %s",
    (text) => {
      expect(typedAt(text)).toBe(null);
    },
  );

  it("finds names whatever the form of their letters is", () => {
    const users = ["ＡＤＡ", "佐藤　健", "José"].map((name, id) => ({ id, name }) as unknown as User);
    const found = (typed: string) => matchesOf(users, typed).map(({ name }) => name);
    expect([found("ada"), found("健"), found("jose\u0301")]).toEqual([["ＡＤＡ"], ["佐藤　健"], ["José"]]);
  });

  it("begins with the very name that was typed, however many of those who are online begin with it", () => {
    const longer = Array.from({ length: 9 }, (_, id) => ({ id, name: `Max ${id}`, status: "online" }));
    const users = [...longer, { id: 9, name: "Max", status: "offline" }] as unknown as User[];
    expect(matchesOf(users, "max").map(({ name }) => name)[0]).toBe("Max");
  });
});

describe("a mention", () => {
  it("is that of the user who was chosen, and not of one whose name is a part of it", () => {
    const ann = choose(type(EMPTY, "@ann"), "Ann");
    const other = choose(type(erase(ann, 5), "@ann l"), "Ann Lee");
    expect([other.text, mentionsIn(other)]).toEqual(["@Ann Lee ", ["Ann Lee"]]);
    const typed = type(erase(ann, 5), "@Ann Lee ");
    expect(mentionsIn(typed)).toEqual([]);
    const both = choose(type(ann, "and @ann"), "Ann Lee");
    expect(mentionsIn(both)).toEqual(["Ann", "Ann Lee"]);
    const pasted = edited(ann, "@Ann Lee ", 8, { start: 0, end: 4 });
    expect(mentionsIn(pasted)).toEqual([]);
  });

  it("tells two users of the same name apart", () => {
    const first = choose(type(EMPTY, "@ann"), "Ann", "1");
    const second = choose(type(first, "@ann"), "Ann", "2");
    expect(mentionsIn(second)).toEqual(["1", "2"]);
    const rest = edited(second, second.text.slice(5), 0);
    expect([rest.text, mentionsIn(rest)]).toEqual(["@Ann ", ["2"]]);
  });

  it("stays with letters of scripts without spaces behind it, for its writer and its readers", () => {
    for (const [name, behind] of [
      ["佐藤", "さん、お願いします"],
      ["Ann", "さん"],
      ["김철수", "님"],
      ["王", "你好"],
      ["Ann", "'s"],
      ["Ann", "!"],
    ] as const) {
      const written = type(erase(choose(type(EMPTY, "今日は@"), name), 1), behind);
      expect([written.text, mentionsIn(written)]).toEqual([`今日は@${name}${behind}`, [name]]);
      expect(mentionTextsOf(written.text, name)).toEqual([`@${name}`]);
    }
  });

  it("ends when its words become another one", () => {
    for (const behind of ["a", "1", "\u0301"]) {
      const written = type(erase(choose(type(EMPTY, "@"), "Ann"), 1), behind);
      expect([mentionsIn(written), mentionTextsOf(written.text, "Ann")]).toEqual([[], []]);
    }
    const [draft] = [choose(type(EMPTY, "Hi @"), "Ann")];
    expect(mentionsIn(edited(draft, "Hi x@Ann ", 4))).toEqual([]);
    expect(mentionsIn(edited(draft, "Hi @Anxn ", 7))).toEqual([]);
    expect(mentionsIn(edited(draft, "Hi there @Ann ", 9))).toEqual(["Ann"]);
  });

  it("of a stored text is where its name is, the longest one first", () => {
    const known = ["Ann", "Ann Lee", "Ghost"].map((name) => ({ mention: name, name }));
    const draft = draftOf("@Ann Lee and (@Ann), not x@Ann", known);
    expect(draft.mentions.map(({ start, who }) => [start, who])).toEqual([
      [0, "Ann Lee"],
      [14, "Ann"],
    ]);
  });

  it("keeps its place when a refused text comes back above what was written since", () => {
    const [refused, since] = [choose(type(EMPTY, "@"), "Ann"), choose(type(EMPTY, "And @"), "Bo")];
    const both = joined(refused, since);
    expect(both.mentions.map(({ start, end }) => both.text.slice(start, end))).toEqual(["@Ann", "@Bo"]);
    expect(joined(refused, EMPTY)).toBe(refused);
  });
});

/** Each character has a number of its own, so that the model sees which of them an edit has left. */
interface Letter {
  readonly char: string;
  readonly number: number;
}

it("mentions follow any edits: each lasts as long as its letters stand together", () => {
  const edit = fc.record({
    kind: fc.constantFrom("type", "delete", "replace", "choose"),
    at: fc.nat(30),
    length: fc.nat(4),
    text: fc.string({ unit: fc.constantFrom("a", "@", " ", "A"), maxLength: 4 }),
  });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 25 }), (edits) => {
      let next = 0;
      const lettersOf = (text: string): Letter[] => [...text].map((char) => ({ char, number: next++ }));
      let letters: Letter[] = [];
      let draft: Draft<number> = { text: "", mentions: [] };
      const named = new Map<number, readonly number[]>();
      for (const { kind, at, length, text } of edits) {
        const start = at % (letters.length + 1);
        const removed =
          kind === "delete" || kind === "replace" ? Math.min(length, letters.length - start) : 0;
        const written = kind === "delete" ? [] : lettersOf(kind === "choose" ? "@Aa" : text);
        const changed = letters.toSpliced(start, removed, ...written);
        const after = changed.map(({ char }) => char).join("");
        if (after === draft.text) continue; // fields report changes alone
        letters = changed;
        const caret = start + written.length;
        const selected = kind === "replace" ? { start, end: start + removed } : undefined;
        draft = edited(draft, after, caret, selected);
        if (kind === "choose") {
          const who = next;
          named.set(
            who,
            written.map(({ number }) => number),
          );
          draft = { text: after, mentions: [...draft.mentions, { start, end: caret, who }] };
        }
        for (const [who, numbers] of named) {
          const first = letters.findIndex(({ number }) => number === numbers[0]);
          const isWhole =
            first >= 0 && numbers.every((number, index) => letters[first + index]?.number === number);
          if (!isWhole) named.delete(who);
        }
        const expected = [...named.keys()].toSorted((a, b) => a - b);
        const placed = draft.mentions.map(({ who }) => who).toSorted((a, b) => a - b);
        expect(placed).toEqual(expected);
        for (const { start, end, who } of draft.mentions)
          expect(letters.slice(start, end).map(({ number }) => number)).toEqual(named.get(who));
      }
    }),
    { numRuns: 2_000 },
  );
});
