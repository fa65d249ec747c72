/** Histories of a document that five people type into and two programs edit, with a model of the room between them. */
import type { Edit, EditedRoot } from "@atrium/contract/rest/document-edits.ts";
import * as Y from "yjs";
import { bytesToBase64 } from "../../../src/platform/crypto/encoding.ts";
import { type AppliedEdits, applyEdits } from "../../../src/room/documents/edits/apply-edits.ts";
import { type ReadBlock, readBlocks } from "../../../src/room/documents/edits/blocks.ts";
import { isOvertaken } from "../../../src/room/documents/edits/guard.ts";
import type { Author, AuthoredUpdate } from "../../../src/room/types/documents.ts";
import { formOf, plain } from "./editor-forms.ts";
import { by } from "./yjs-edits.ts";

export const FORMS = ["text", "tiptap", "blocknote"] as const;
export type Form = (typeof FORMS)[number];

const TYPISTS = 5;
const ATTEMPTS = 3;

/** Numbers from 0 to below `max`, always the same for a seed (mulberry32). */
function randomNumbers(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * max);
  };
}

/** An update with what its author saw while writing. */
interface Written {
  readonly data: Uint8Array;
  /** The characters on both sides of what was typed. */
  readonly between: string;
  readonly deleted: readonly string[];
  readonly author: Author;
}

/** What a program asks for, in its own words. */
interface Request {
  readonly id: number;
  readonly edits: readonly Edit[];
  readonly base: Uint8Array;
  /** The number of updates that the room had then. */
  readonly readAt: number;
  /** Texts that it has read, and relies on. */
  readonly stretches: readonly string[];
  /** Quotations at which it inserts, with the inserted text. */
  /** Texts between anchors that it replaces, deletes or formats. */
  readonly anchored: readonly string[];
  readonly beside: readonly { readonly quote: string; readonly text: string }[];
  readonly removed: readonly string[];
  readonly inserted: readonly string[];
}

interface Attempt {
  readonly request: Request;
  readonly applied: AppliedEdits;
  /** The number of updates that the room had, and its text. */
  readonly at: number;
  readonly shown: string;
  readonly attempt: number;
}

/** A text that is being generated: each piece is an edit at the end of the one before. */
interface OpenStream {
  readonly inBlocks: boolean;
  at: Edit["at"];
  hasBegun: boolean;
  last: string;
}

interface Typist {
  readonly doc: Y.Doc;
  readonly inbox: Uint8Array[];
  readonly outbox: Written[];
}

interface Program {
  readonly author: Author;
  /** Its texts, with the number of updates that the room had before. */
  readonly written: { readonly text: string; readonly at: number }[];
  request: Request | null;
  /** Computed, and on the way to the room. */
  attempts: Attempt[];
  stream: OpenStream | null;
}

export interface Outcome {
  applied: number;
  refused: number;
  overtaken: number;
  pieces: number;
}

function check(isRight: boolean, problem: string): void {
  if (!isRight) throw new Error(problem);
}

export class EditHistory {
  readonly outcome: Outcome = { applied: 0, refused: 0, overtaken: 0, pieces: 0 };
  readonly #random: (max: number) => number;
  readonly #form: ReturnType<typeof formOf>;
  readonly #root: EditedRoot;
  readonly #room = new Y.Doc({ gc: false });
  readonly #updates: Written[] = [];
  readonly #typists: Typist[] = [];
  readonly #programs: Program[] = [];
  readonly #answered = new Set<number>();
  readonly #typed: string[] = [];
  /** Texts of programs that the room has acknowledged. */
  readonly #acknowledged: string[] = [];
  readonly #refusedTexts: string[] = [];
  readonly #removed = new Set<string>();
  #characters = 0;
  #requests = 0;
  #typing: Omit<Written, "data" | "author"> = { between: "", deleted: [] };

  constructor(seed: number, form: Form) {
    this.#random = randomNumbers(seed);
    this.#form = formOf(form);
    this.#root = { root: "default", type: form === "text" ? "text" : "xml" };
    this.#room.clientID = 1;
    this.#form.fill(
      this.#room,
      [0, 1, 2].map(() => this.#newCharacter() + this.#newCharacter()),
    );
    for (const text of this.#form.texts(this.#room)) this.#typed.push(...plain(text).replace(/\n/g, ""));
    // The room changes nothing by itself; Yjs takes superfluous formats away at the end of each transaction.
    this.#room._transaction = new Y.Transaction(this.#room, null, false);
    for (let index = 0; index < TYPISTS; index += 1) {
      const doc = new Y.Doc();
      doc.clientID = 10 + this.#random(1_000_000) * 10 + index;
      Y.applyUpdate(doc, this.#roomUpdate());
      const outbox: Written[] = [];
      doc.on("update", (data: Uint8Array, _: unknown, __: unknown, { local }: Y.Transaction) => {
        if (local) outbox.push({ data, ...this.#typing, author: by(index) });
      });
      this.#typists.push({ doc, inbox: [], outbox });
    }
    for (let index = 0; index < 2; index += 1)
      this.#programs.push({
        author: by(`program ${index}`),
        written: [],
        request: null,
        attempts: [],
        stream: null,
      });
  }

  /** Throws at the first thing that must not be. */
  run(steps: number): void {
    for (let step = 0; step < steps; step += 1) {
      const kind = this.#random(10);
      if (kind < 3) this.#write(this.#random(TYPISTS));
      else if (kind < 6) this.#deliver(this.#random(TYPISTS));
      else this.#act(this.#programs[this.#random(2)] as Program);
    }
    this.#finish();
  }

  #roomUpdate = (): Uint8Array => Y.encodeStateAsUpdate(this.#room);

  /** A character that no one else writes; every other one is a surrogate pair. */
  #newCharacter(): string {
    this.#characters += 1;
    return String.fromCodePoint((this.#characters % 2 === 0 ? 0x4e00 : 0x20000) + this.#characters);
  }

  #pick<Value>(values: readonly Value[]): Value | undefined {
    return values[this.#random(values.length)];
  }

  #write(index: number): void {
    const { doc } = this.#typists[index] as Typist;
    const kind = this.#random(12);
    this.#typing = { between: "", deleted: [] };
    if (kind === 0) {
      const gone = this.#form.dropBlock(doc, this.#random);
      for (const character of gone) this.#removed.add(character);
      return;
    }
    if (kind === 1) {
      const character = this.#newCharacter();
      this.#typed.push(character);
      this.#form.addBlock(doc, character, this.#random);
      return;
    }
    const text = this.#pick(this.#form.texts(doc));
    if (text === undefined) return;
    const characters = [...plain(text)];
    const at = this.#random(characters.length + 1);
    const offset = characters.slice(0, at).join("").length;
    if (kind < 5 && at < characters.length && characters[at] !== "\n") {
      const gone = characters[at] ?? "";
      this.#removed.add(gone);
      this.#typing = { between: "", deleted: [gone] };
      text.delete(offset, gone.length);
    } else if (kind === 5 && at < characters.length) {
      text.format(offset, (characters[at] ?? "").length, { bold: this.#random(2) === 0 ? {} : null });
    } else {
      const character = this.#newCharacter();
      this.#typed.push(character);
      this.#typing = { between: (characters[at - 1] ?? "") + (characters[at] ?? ""), deleted: [] };
      text.insert(offset, character);
    }
  }

  /** Delivers an update of a typist to the room, or one of the room to the typist, in any order. */
  #deliver(index: number): void {
    const typist = this.#typists[index] as Typist;
    const box = this.#random(2) === 0 ? typist.outbox : typist.inbox;
    const [next] = box.splice(this.#random(box.length), 1);
    if (next === undefined) return;
    this.#typing = { between: "", deleted: [] };
    if (next instanceof Uint8Array) Y.applyUpdate(typist.doc, next, "room");
    else this.#append(next, typist);
  }

  #append(written: Written, from: unknown): void {
    this.#updates.push(written);
    Y.applyUpdate(this.#room, written.data);
    for (const typist of this.#typists) if (typist !== from) typist.inbox.push(written.data);
  }

  #act(program: Program): void {
    const kind = this.#random(10);
    if (program.stream !== null && kind < 5) this.#stream(program, program.stream);
    else if (program.attempts.length > 0 && kind < 7) this.#receive(program);
    else if (program.request !== null) this.#compute(program, program.request, 1);
    else if (kind === 9 && program.stream === null) this.#openStream(program);
    else this.#read(program);
  }

  #read(program: Program): void {
    const { blocks, state } = readBlocks(this.#roomUpdate(), this.#root, { after: null, limit: 50 });
    const read = { base: state, readAt: this.#updates.length };
    const request = {
      stretches: [],
      anchored: [],
      beside: [],
      removed: [],
      inserted: [],
      edits: [],
      ...read,
    };
    const edits = Array.from({ length: 1 + this.#random(2) }, () => this.#newEdit(blocks, request));
    this.#requests += 1;
    program.request = { ...request, id: this.#requests, edits: edits.flatMap((edit) => edit ?? []) };
    if (program.request.edits.length === 0) program.request = null;
  }

  #newEdit(
    blocks: readonly ReadBlock[],
    request: {
      stretches: string[];
      anchored: string[];
      beside: Request["beside"][number][];
      removed: string[];
      inserted: string[];
    },
  ): Edit | null {
    const text = this.#newCharacter();
    const format = this.#random(3) === 0 ? { format: { bold: {} } } : {};
    const place = this.#random(8);
    const isInBlock = this.#root.type === "xml" && this.#random(3) === 0;
    const block = isInBlock ? { block: { name: "paragraph", attributes: {} } } : {};
    const read = this.#pick(blocks.filter(({ text }) => text !== ""));
    if (place === 0 || read === undefined) {
      request.inserted.push(text);
      return { at: this.#random(2) === 0 ? "start" : "end", insert: text, ...block };
    }
    const [anchor, end] = [bytesToBase64(read.anchor), bytesToBase64(read.end)];
    if (place === 1) {
      request.inserted.push(text);
      return { at: { anchor: this.#random(2) === 0 ? anchor : end }, insert: text, ...block, ...format };
    }
    const characters = [...read.text];
    const from = this.#random(characters.length);
    const quoted = characters.slice(from, from + 1 + this.#random(4));
    const quote = { quote: quoted.join(""), side: this.#random(2) === 0 ? "before" : "after" } as const;
    if (place < 4) {
      request.inserted.push(text);
      if (!isInBlock) request.beside.push({ quote: quote.quote, text });
      return { at: quote, insert: text, ...block, ...format };
    }
    const isWhole = this.#random(2) === 0;
    const stretch = isWhole ? characters : quoted;
    const at = isWhole ? { anchor, end } : quote;
    request.stretches.push(stretch.join(""));
    if (isWhole) request.anchored.push(read.text);
    if (place === 4) return { at, format: { bold: {} } };
    if (place === 5) {
      request.removed.push(...stretch);
      return { at, delete: true };
    }
    const kept = this.#random(stretch.length + 1);
    const cut = this.#random(stretch.length - kept + 1);
    request.removed.push(...stretch.slice(kept, stretch.length - cut));
    request.inserted.push(text);
    return {
      at,
      replace: [...stretch.slice(0, kept), text, ...stretch.slice(stretch.length - cut)].join(""),
    };
  }

  #compute(program: Program, request: Request, attempt: number): void {
    // The program hears nothing, and asks again.
    if (this.#random(4) > 0) program.request = null;
    try {
      const applied = applyEdits(
        this.#roomUpdate(),
        this.#root,
        request.edits,
        { state: request.base, since: this.#since(request) },
        program.author,
      );
      const shown = this.#shownTexts().join("");
      program.attempts.push({ request, applied, at: this.#updates.length, shown, attempt });
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      check(error.code === "CONFLICT" || error.code === "BAD_REQUEST", `${error.message}`);
      this.#refuse(request);
    }
  }

  #since = ({ readAt }: Request): AuthoredUpdate[] =>
    this.#updates
      .slice(readAt)
      .map(({ data, author }, index) => ({ seq: readAt + index + 1, authors: [author], data }));

  #refuse(request: Request): void {
    if (this.#answered.has(request.id)) return;
    this.outcome.refused += 1;
    this.#answered.add(request.id);
    this.#refusedTexts.push(...request.inserted);
  }

  #receive(program: Program): void {
    const next = program.attempts.shift();
    if (next === undefined || this.#answered.has(next.request.id)) return;
    const { request, applied, at, shown, attempt } = next;
    const later = this.#updates.slice(at);
    if (
      isOvertaken(
        applied.guard,
        later.map(({ data }) => data),
      )
    ) {
      this.outcome.overtaken += 1;
      if (attempt < ATTEMPTS) this.#compute(program, request, attempt + 1);
      else this.#refuse(request);
      return;
    }
    for (const { between, deleted } of later)
      for (const stretch of request.stretches) {
        const isRead = [...between].length === 2 && stretch.includes(between) && shown.includes(between);
        check(!isRead, "someone typed into a stretch that was edited");
        check(
          !deleted.some((gone) => stretch.includes(gone) && shown.includes(gone)),
          "someone deleted from a stretch that was edited",
        );
      }
    for (const { deleted } of this.#updates.slice(request.readAt))
      check(
        !request.anchored.some((text) => deleted.some((gone) => text.includes(gone))),
        "someone deleted from a stretch since it was read",
      );
    this.#answered.add(request.id);
    this.outcome.applied += 1;
    const { author } = program;
    if (applied.update !== null)
      this.#append({ data: applied.update, between: "", deleted: [], author }, null);
    for (const gone of request.removed) this.#removed.add(gone);
    this.#acknowledged.push(...request.inserted);
    const texts = this.#shownTexts();
    // A program may overwrite what it wrote itself since it has read.
    for (const { text, at } of program.written)
      if (at >= request.readAt && !texts.some((shown) => shown.includes(text))) this.#removed.add(text);
    const writtenAt = this.#updates.length - 1;
    program.written.push(...request.inserted.map((text) => ({ text, at: writtenAt })));
    for (const text of request.inserted)
      check(
        texts.filter((shown) => shown.includes(text)).length === 1,
        "an acknowledged text is not shown once",
      );
    for (const { quote, text } of request.beside)
      check(
        texts.some(
          (shown) =>
            shown.includes(text) &&
            [...quote].every((each) => shown.includes(each) || this.#removed.has(each)),
        ),
        "a text is in another paragraph than its quotation",
      );
    this.#form.requireForm(this.#room);
  }

  #openStream(program: Program): void {
    const { blocks } = readBlocks(this.#roomUpdate(), this.#root, { after: null, limit: 50 });
    const read = this.#pick(blocks);
    const at = read === undefined || this.#random(3) === 0 ? "end" : { anchor: bytesToBase64(read.end) };
    const inBlocks = this.#root.type === "xml" && this.#random(2) === 0;
    program.stream = { at, inBlocks, hasBegun: false, last: "" };
  }

  #stream(program: Program, open: OpenStream): void {
    const piece = this.#newCharacter();
    const isBlock = open.inBlocks && (!open.hasBegun || this.#random(3) === 0);
    const edit = { at: open.at, insert: piece, ...(isBlock && { block: { name: "paragraph" } }) };
    try {
      const { update, edits } = applyEdits(this.#roomUpdate(), this.#root, [edit], null, program.author);
      check(update !== null && edits[0]?.end != null, "a piece is not written");
      this.#append({ data: update as Uint8Array, between: "", deleted: [], author: program.author }, null);
      open.at = { anchor: bytesToBase64(edits[0]?.end as Uint8Array) };
    } catch (error) {
      check(error instanceof Error && "code" in error && error.code === "CONFLICT", String(error));
      program.stream = null;
      return;
    }
    this.outcome.pieces += 1;
    program.written.push({ text: piece, at: this.#updates.length - 1 });
    this.#acknowledged.push(piece);
    const texts = this.#shownTexts();
    const isFollowing = open.hasBegun && !isBlock && texts.some((shown) => shown.includes(open.last));
    const expected = (isFollowing ? open.last : "") + piece;
    check(
      texts.filter((shown) => shown.includes(expected)).length === 1,
      "a piece does not follow the one before",
    );
    [open.hasBegun, open.last] = [true, piece];
    this.#form.requireForm(this.#room);
  }

  #shownTexts = (): string[] => this.#form.texts(this.#room).map((text) => plain(text));

  #finish(): void {
    for (const program of this.#programs) {
      for (const { request } of program.attempts) this.#refuse(request);
      if (program.request !== null) this.#refuse(program.request);
    }
    while (this.#typists.some(({ inbox, outbox }) => inbox.length + outbox.length > 0))
      this.#deliver(this.#random(TYPISTS));
    const content = this.#form.contentOf(this.#room);
    for (const { doc } of this.#typists)
      check(this.#form.contentOf(doc) === content, "the document is not the same everywhere");
    this.#form.requireForm(this.#room);
    check(!content.includes("\uFFFD"), "half of a character is left");
    const shown = this.#shownTexts().join("");
    for (const text of [...this.#typed, ...this.#acknowledged]) {
      const count = shown.split(text).length - 1;
      check(count <= 1, "a text stands there twice");
      if (count === 0 && !this.#removed.has(text)) check(this.#isInDeletedBlock(text), "a text is lost");
    }
    for (const text of this.#refusedTexts) check(!shown.includes(text), "a refused text is there");
  }

  /** Its block was deleted by someone who had not seen the text. */
  #isInDeletedBlock(text: string): boolean {
    for (const structs of this.#room.store.clients.values())
      for (const item of structs) {
        if (!(item instanceof Y.Item) || !(item.content instanceof Y.ContentString)) continue;
        if (!item.content.str.includes(text)) continue;
        const { parent } = item;
        if (parent instanceof Y.AbstractType && parent._item?.deleted) return true;
      }
    return false;
  }
}
