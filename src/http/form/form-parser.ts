/** Parses multipart/form-data (RFC 7578) as a stream: chunks in, events out, without buffering parts. */

import { AppError, type Module } from "@atrium/contract/errors.ts";
import { parse } from "content-disposition";
import { make } from "multipasta/Search";
import { concatBytes } from "../../platform/crypto/encoding.ts";
import { refuseEncoding } from "./content-encoding.ts";

const BOUNDARY = /^[ !#-[\]-~]{1,70}$/;

function boundaryOf(contentType: string): string | null {
  const { type, parameters } = parse(contentType); // the grammar is that of Content-Disposition
  const { boundary = "" } = parameters;
  return type === "multipart/form-data" && BOUNDARY.test(boundary) ? boundary : null;
}

/** The most parts that a form may have. Real forms have a handful. */
const MAX_PARTS = 32;
const MAX_HEAD_BYTES = 16 * 1024;

export interface PartHead {
  readonly name: string;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

export type FormEvent = PartHead | Uint8Array | "end";

const NAMELESS = "Each part of the form needs Content-Disposition: form-data with a name";
const MALFORMED = "A part of the form has malformed headers, or headers above 16 KiB";
const INCOMPLETE = "The form is incomplete: its closing boundary is missing";

const decoder = new TextDecoder();
const NO_BYTES = new Uint8Array();
const HEAD_END = new TextEncoder().encode("\r\n\r\n");
const DASH = 0x2d;

const HEADER = /^([!#$%&'*+.^_`|~\w-]+):(.*)$/;
/** Control characters of ASCII, but not tabs. */
const CONTROL = /[^\P{Cc}\t\u0080-\u009f]/u;
const BLANKS = /^[ \t]*$/;

export class FormParser {
  readonly #module: Module;
  readonly #search: ReturnType<typeof make>;
  #events: FormEvent[] = [];
  #isDone = false;
  /** The number of the latest boundary; 0 in the preamble. */
  #boundary = 0;
  #parts = 0;
  /** The bytes behind a boundary, until the part's headers are complete; null within the part's content. */
  #head: Uint8Array | null = null;

  /** BAD_REQUEST when the Content-Type is not that of a form. */
  constructor(contentType: string | null, module: Module) {
    this.#module = module;
    const boundary = boundaryOf(contentType ?? "");
    if (boundary === null) {
      throw this.#refuse(
        "The body must be multipart/form-data with a boundary; pass a FormData object and let your HTTP library set Content-Type",
      );
    }
    this.#search = make(`\r\n--${boundary}`, (index, chunk) => this.#take(index, chunk));
    this.#search.write(HEAD_END.subarray(2)); // the first boundary needs no line before it
  }

  /** The events in the next chunk of the body, which may be views of `chunk`. BAD_REQUEST when it is malformed. */
  write(chunk: Uint8Array): readonly FormEvent[] {
    this.#events = [];
    if (!this.#isDone && chunk.byteLength > 0) this.#search.write(chunk);
    return this.#events;
  }

  /** The last events. BAD_REQUEST when the body ends before its closing boundary. */
  end(): readonly FormEvent[] {
    this.#events = [];
    if (!this.#isDone) this.#search.end();
    if (!this.#isDone) throw this.#refuse(INCOMPLETE);
    return this.#events;
  }

  /** Bytes behind a boundary. The preamble, and content after the closing boundary, are ignored. */
  #take(boundary: number, bytes: Uint8Array): void {
    if (this.#isDone || boundary === 0) return;
    if (boundary !== this.#boundary) {
      if (boundary > this.#boundary + 1) throw this.#refuse(MALFORMED); // nothing is between two boundaries
      if (this.#head !== null) this.#begin(this.#head); // a part without content ends in its headers
      if (this.#boundary > 0) this.#events.push("end");
      this.#boundary = boundary;
      this.#head = NO_BYTES;
    }
    if (this.#head === null) this.#events.push(bytes);
    else this.#readHead(concatBytes(this.#head, bytes));
  }

  #readHead(bytes: Uint8Array): void {
    this.#head = bytes;
    this.#isDone = bytes[0] === DASH && bytes[1] === DASH;
    if (this.#isDone) return;
    const end = indexOf(bytes, HEAD_END);
    if ((end === -1 ? bytes.byteLength : end) > MAX_HEAD_BYTES) throw this.#refuse(MALFORMED);
    if (end === -1) return;
    this.#begin(bytes.subarray(0, end));
    const content = bytes.subarray(end + HEAD_END.byteLength);
    if (content.byteLength > 0) this.#events.push(content);
  }

  #begin(head: Uint8Array): void {
    this.#parts += 1;
    if (this.#parts > MAX_PARTS) throw this.#refuse(`The form has more than ${MAX_PARTS} parts`);
    this.#events.push(this.#headOf(decoder.decode(head).trimEnd()));
    this.#head = null;
  }

  #headOf(text: string): PartHead {
    const [blanks = "", ...lines] = text.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n"); // a header may go on in the next line
    if (!BLANKS.test(blanks)) throw this.#refuse(MALFORMED);
    const headers = new Map<string, string>();
    for (const line of lines) {
      const [, name, value] = HEADER.exec(line) ?? [];
      if (name === undefined || value === undefined || CONTROL.test(value)) throw this.#refuse(MALFORMED);
      if (!headers.has(name.toLowerCase())) headers.set(name.toLowerCase(), value.trim());
    }
    refuseEncoding("Content-Transfer-Encoding", headers.get("content-transfer-encoding"), this.#module);
    return {
      ...this.#namesOf(headers.get("content-disposition") ?? ""),
      contentType: headers.get("content-type"),
    };
  }

  #namesOf(disposition: string): Pick<PartHead, "name" | "filename"> {
    const { type, parameters } = parse(withoutEscapes(disposition), { multipart: true });
    const { name, filename } = parameters;
    if (type !== "form-data" || name === undefined) throw this.#refuse(NAMELESS);
    if (filename === undefined && parameters["filename*"] !== undefined)
      throw this.#refuse("A part of the form has a malformed filename*");
    return { name, filename };
  }

  #refuse(why: string): AppError {
    return new AppError(this.#module, "BAD_REQUEST", why);
  }
}

/** Browsers write `%22` for a quote in a name, which the grammar of headers writes as `\"`. Other backslashes are those of folders. */
const withoutEscapes = (disposition: string): string =>
  disposition.replaceAll(/\\["\\]/g, (pair) => (pair === '\\"' ? "%22" : pair));

function indexOf(bytes: Uint8Array, wanted: Uint8Array): number {
  for (let at = bytes.indexOf(wanted[0] ?? 0); at !== -1; at = bytes.indexOf(wanted[0] ?? 0, at + 1))
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
  return -1;
}
