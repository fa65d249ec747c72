/** The content of a stream by its type: text of whole characters, JSON messages, or bytes. */
import { assumeType } from "../core/json.ts";

export type ContentKind = "text" | "json" | "bytes";

export function kindOf(contentType: string | null): ContentKind {
  const [type = ""] = (contentType ?? "").toLowerCase().split(";");
  if (type.trim() === "application/json") return "json";
  return type.startsWith("text/") ? "text" : "bytes";
}

/** A piece of a stream's content. A stream has one type, and leaves the other two fields empty. */
export interface StreamContent<Message = unknown> {
  /** Of a stream of the type `text/…`: whole characters. */
  readonly text: string;
  /** Of a stream of the type `application/json`. */
  readonly messages: readonly Message[];
  /** Of any other stream. */
  readonly bytes: Uint8Array;
}

const NONE = { text: "", messages: [], bytes: new Uint8Array() };
// A byte order mark is content: the text must stay as it was written.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Whether the last character of a UTF-8 text lacks bytes. */
function endsInCharacter(bytes: Uint8Array): boolean {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes.at(-back) ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1);
  }
  return false;
}

/** Decodes the content that arrives, and holds back text that ends within a character. */
export class ContentDecoder<Message> {
  #held: Uint8Array = NONE.bytes;

  /** Whether text waits for the rest of its last character. */
  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** Null while the text is held back; `isLast` gives out all of it. Data that arrived as strings has whole characters. */
  decode(
    kind: ContentKind,
    data: readonly (Uint8Array | string)[],
    isLast: boolean,
  ): StreamContent<Message> | null {
    if (kind === "json") return { ...NONE, messages: data.flatMap(messagesIn<Message>) };
    if (kind === "text" && typeof data[0] === "string") return { ...NONE, text: data.join("") };
    const bytes = concatenated([this.#held, ...data.map(assumeType<Uint8Array>)]);
    if (kind === "bytes") return { ...NONE, bytes };
    const isHeld = !isLast && endsInCharacter(bytes);
    this.#held = isHeld ? bytes : NONE.bytes;
    return isHeld ? null : { ...NONE, text: decoder.decode(bytes) };
  }
}

/** An array of messages; nothing if the server had none. */
function messagesIn<Message>(data: Uint8Array | string): Message[] {
  const json = typeof data === "string" ? data : decoder.decode(data);
  return json === "" ? [] : assumeType([JSON.parse(json)].flat(1));
}

export function concatenated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}
