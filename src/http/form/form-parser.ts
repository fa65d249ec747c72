/** Takes multipart/form-data apart as it comes (RFC 7578): chunks in, events out, and nothing is kept. */
import { parse } from "content-disposition";
import { type MultipartError, make } from "multipasta";
import type { Module } from "../../platform/error-codes.ts";
import { AppError } from "../../platform/errors.ts";

/** A form may have this many parts; forms that people make have a handful. */
export const MAX_PARTS = 32;

/** How one part of a form introduces itself. */
export interface PartHead {
  readonly name: string;
  /** As given; undefined for a field that is no file. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

/** A part's head, then its bytes in pieces, then `end`. */
export type FormEvent = PartHead | Uint8Array | "end";

const MAX_BOUNDARY_LENGTH = 70;
const BOUNDARY = new RegExp(`^[ !#-\\[\\]-~]{1,${MAX_BOUNDARY_LENGTH}}$`);
const DASH = 0x2d;
/** Longer than any run of dashes in which a closing boundary can end. */
const MAX_DASHES = MAX_BOUNDARY_LENGTH + 10;

/** The boundary that a Content-Type names; null when it is none of a form. */
function boundaryOf(contentType: string): string | null {
  const { type, parameters } = parse(contentType); // the same grammar as Content-Disposition's
  const { boundary = "" } = parameters;
  return type === "multipart/form-data" && BOUNDARY.test(boundary) ? boundary : null;
}

function complaintOf(error: MultipartError): string {
  switch (error._tag) {
    case "ReachedLimit":
      return `The form has more than ${MAX_PARTS} parts`;
    case "EndNotReached":
      return "The form breaks off: its closing boundary is missing";
    case "BadHeaders":
      return "A part of the form has malformed headers, or more than 16 KiB of them";
    default:
      return NAMELESS;
  }
}

const NAMELESS = "Each part of the form needs Content-Disposition: form-data with a name";

/** Parses one form. */
export class FormParser {
  readonly #module: Module;
  readonly #parser: ReturnType<typeof make>;
  #events: FormEvent[] = [];
  #isDone = false;
  #heldBack = new Uint8Array();

  /** BAD_REQUEST when the body cannot be a form. */
  constructor(contentType: string | null, module: Module) {
    this.#module = module;
    const boundary = boundaryOf(contentType ?? "");
    if (boundary === null) {
      throw this.#refuse(
        "The body must be multipart/form-data; your HTTP library sets that, and a boundary, for a form",
      );
    }
    this.#parser = make({
      headers: { "content-type": `multipart/form-data; boundary="${boundary}"` },
      maxParts: MAX_PARTS,
      // Fields come like files: their limits are for those to know who know their meaning.
      isFile: () => true,
      onFile: ({ headers }) => {
        this.#tell(this.#headOf(headers));
        return (bytes) => this.#tell(bytes ?? "end");
      },
      onField: () => {},
      onError: (error) => {
        if (!this.#isDone) throw this.#refuse(complaintOf(error));
      },
      onDone: () => {
        this.#isDone = true;
      },
    });
  }

  /** What another piece of the body says. BAD_REQUEST when it is malformed. Keeps views of `chunk` until the next. */
  write(chunk: Uint8Array): readonly FormEvent[] {
    // multipasta takes the second dash of a closing boundary for a header if a chunk ends before it, so
    // none ever does: a run of dashes waits for what follows, unless it is too long to end a boundary.
    const joined = concat(this.#heldBack, chunk);
    let end = joined.byteLength;
    while (end > 0 && joined[end - 1] === DASH && joined.byteLength - end < MAX_DASHES) end -= 1;
    if (joined.byteLength - end === MAX_DASHES) end = joined.byteLength;
    this.#heldBack = joined.slice(end);
    this.#parse(joined.subarray(0, end));
    return this.#events;
  }

  /** What the body said last. BAD_REQUEST when it breaks off before its closing boundary. */
  end(): readonly FormEvent[] {
    this.#parse(this.#heldBack);
    if (!this.#isDone) this.#parser.end();
    if (!this.#isDone) throw this.#refuse(complaintOf({ _tag: "EndNotReached" })); // it broke off in a part's headers
    return this.#events;
  }

  #parse(chunk: Uint8Array): void {
    this.#events = [];
    try {
      if (!this.#isDone && chunk.byteLength > 0) this.#parser.write(chunk);
    } catch (error) {
      throw error instanceof URIError ? this.#refuse("A part of the form has a malformed filename*") : error;
    }
  }

  /** What follows the closing boundary says nothing. */
  #tell(event: FormEvent): void {
    if (!this.#isDone) this.#events.push(event);
  }

  #headOf(headers: Readonly<Record<string, string | string[]>>): PartHead {
    const { "content-disposition": disposition, "content-type": contentType } = headers;
    const { type, parameters } = parse(String(disposition ?? ""), { multipart: true });
    const { name, filename } = parameters;
    if (type !== "form-data" || name === undefined) throw this.#refuse(NAMELESS);
    return { name, filename, contentType: contentType === undefined ? undefined : String(contentType) };
  }

  #refuse(why: string): AppError {
    return new AppError(this.#module, "BAD_REQUEST", why);
  }
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array {
  if (head.byteLength === 0) return tail;
  const bytes = new Uint8Array(head.byteLength + tail.byteLength);
  bytes.set(head);
  bytes.set(tail, head.byteLength);
  return bytes;
}
