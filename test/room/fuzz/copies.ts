/** A client's copies of documents, made of received and own updates. */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { expect } from "vitest";
import * as Y from "yjs";
import {
  answerFrame,
  awarenessFrame,
  closeFrame,
  questionFrame,
  readFrame,
  updateFrame,
} from "../../../packages/sdk/room-documents/frames.ts";
import type { DocumentAct } from "./document-acts.ts";

/** Text of viewers, which no one may ever see. */
export const BY_VIEWER = "[a viewer's]";
const BY_EDITOR = "edited ";
const SYNC_UPDATES = new Set(["type", "erase", "damage", "skip", "repeat"]);
const QUERY = 3;

/** A frame to send, and whether the room has to answer it with a status. */
interface Sent {
  readonly frame: Uint8Array<ArrayBuffer>;
  /** The document's key, for an update. */
  readonly updated: string | null;
}

/** Sent and received frames of one document. */
interface Tally {
  updates: number;
  statuses: number;
  /** How often the document was refused, or closed. */
  endings: number;
}

const nameOf = (key: string): string => key.split("\0", 1)[0] ?? "";

export class Copies {
  readonly #owner: string;
  /** Unlike that of any other client. */
  readonly #clientId: number;
  readonly #docs: Map<string, Y.Doc>;
  /** The documents that the room has sent everything of. */
  readonly synced = new Set<string>();
  /** Tallies by the key in the frames. */
  readonly #tallies = new Map<string, Tally>();
  /** Answers to the room's questions, until they are sent. */
  readonly replies: Sent[] = [];

  /** `docs` are those of the client's connection before. */
  constructor(owner: string, clientId: number, docs: ReadonlyMap<string, Y.Doc> = new Map()) {
    this.#owner = owner;
    this.#clientId = clientId;
    this.#docs = new Map(docs);
  }

  /** Copies for the client's next connection. */
  reconnected(owner: string): Copies {
    return new Copies(owner, this.#clientId, this.#docs);
  }

  #tallyOf(key: string): Tally {
    const known = this.#tallies.get(key) ?? { updates: 0, statuses: 0, endings: 0 };
    this.#tallies.set(key, known);
    return known;
  }

  /** An update goes to the room. */
  countUpdate(key: string): void {
    this.#tallyOf(key).updates += 1;
  }

  /** The documents with an update that has no status, unless its document is not open. */
  get unanswered(): readonly string[] {
    return [...this.#tallies].flatMap(([key, { updates, statuses, endings }]) =>
      updates > statuses + endings ? [key] : [],
    );
  }

  /** The copy of a document. */
  get(name: string): Y.Doc {
    const known = this.#docs.get(name);
    if (known !== undefined) return known;
    const doc = new Y.Doc();
    doc.clientID = this.#clientId;
    this.#docs.set(name, doc);
    return doc;
  }

  /** Changes the client's own copy, and returns the frames of an act, if any. */
  act(act: DocumentAct, role: "editor" | "viewer"): Sent {
    const { kind, name } = act;
    const updated = SYNC_UPDATES.has(kind) ? name : null;
    const sent = (frame: Uint8Array<ArrayBuffer>): Sent => ({ frame, updated });
    const doc = this.get(nameOf(name ?? ""));
    switch (kind) {
      case "open":
        return sent(questionFrame(name, Y.encodeStateVector(doc)));
      case "repeat":
        return sent(updateFrame(name, Y.encodeStateAsUpdate(doc)));
      case "query":
        return sent(bytesAfter(name, [QUERY]));
      case "close":
        return sent(closeFrame(name));
      case "show":
        return sent(awarenessFrame(name, entryOf(act)));
      case "bytes":
        return sent(bytesAfter(name, act.bytes));
      default:
        return sent(updateFrame(name, editOf(doc, act, role)));
    }
  }

  /** The room has sent a frame about a document. */
  receive(bytes: Uint8Array): void {
    const read = readFrame(bytes);
    if (read === null) throw new Error(`${this.#owner} cannot read a frame: ${bytes.slice(0, 40)}`);
    const { key, message } = read;
    const name = nameOf(key);
    switch (message.type) {
      case "question": {
        const update = Y.encodeStateAsUpdate(this.get(name), message.stateVector);
        this.replies.push({ frame: answerFrame(key, update), updated: key });
        return;
      }
      case "answer":
        this.synced.add(name);
        Y.applyUpdate(this.get(name), message.update);
        return;
      case "update":
        Y.applyUpdate(this.get(name), message.update);
        return;
      case "status": {
        const tally = this.#tallyOf(key);
        tally.statuses += 1;
        expect(tally.statuses, `${this.#owner}'s statuses`).toBeLessThanOrEqual(tally.updates);
        return;
      }
      case "awareness":
        requireEntries(message.entries);
        return;
      case "closed":
        this.#tallyOf(key).endings += 1;
        return;
      case "queryAwareness":
    }
  }
}

/** Content of a document: everything in which two equal ones agree. */
export const contentOf = (doc: Y.Doc) => ({
  text: doc.getText("text").toString(),
  known: Object.fromEntries([...Y.decodeStateVector(Y.encodeStateVector(doc))].sort()),
  deleted: Object.fromEntries(
    [...Y.snapshot(doc).ds.clients].map(([client, ranges]) => [
      client,
      ranges.map(({ clock, len }) => [clock, len]),
    ]),
  ),
});

let damaged = 0;

function editOf(
  doc: Y.Doc,
  act: Extract<DocumentAct, { kind: "type" | "erase" | "damage" | "skip" }>,
  role: "editor" | "viewer",
): Uint8Array {
  const text = doc.getText("text");
  if (act.kind === "skip") text.insert(0, BY_EDITOR); // keeps this update at its client
  const before = Y.encodeStateVector(doc);
  if (act.kind === "erase") {
    const at = Math.min(act.at, text.length);
    text.delete(at, Math.min(act.length, text.length - at));
    return Y.encodeStateAsUpdate(doc, before);
  }
  if (act.kind !== "damage") {
    const at = "at" in act ? Math.min(act.at, text.length) : text.length;
    text.insert(at, role === "viewer" ? BY_VIEWER : BY_EDITOR);
    return Y.encodeStateAsUpdate(doc, before);
  }
  // Damages a copy that is thrown away: the client itself never made this edit.
  const other = new Y.Doc();
  damaged += 1;
  // No damage makes one of these ids another one of them, or that of a client.
  other.clientID = 3_000_000_000 + 13 * damaged;
  other.getText("text").insert(0, BY_EDITOR);
  const update = Y.encodeStateAsUpdate(other);
  const at = act.at % update.length;
  update[at] = (update[at] ?? 0) ^ (1 << act.bit);
  return update;
}

const bytesAfter = (name: string | null, bytes: readonly number[]): Uint8Array<ArrayBuffer> =>
  encoding.encode((encoder) => {
    if (name !== null) encoding.writeVarString(encoder, name);
    encoding.writeUint8Array(encoder, new Uint8Array(bytes));
  });

const entryOf = ({ client, clock, state }: Extract<DocumentAct, { kind: "show" }>): Uint8Array =>
  encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 1);
    encoding.writeVarUint(encoder, client);
    encoding.writeVarUint(encoder, clock);
    encoding.writeVarString(encoder, state);
  });

function requireEntries(entries: Uint8Array): void {
  const decoder = decoding.createDecoder(entries);
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
    decoding.readVarUint(decoder);
    decoding.readVarUint(decoder);
    JSON.parse(decoding.readVarString(decoder));
  }
  expect(decoding.hasContent(decoder)).toBe(false);
}
