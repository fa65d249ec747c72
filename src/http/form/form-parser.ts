/** Parses multipart/form-data (RFC 7578) as a stream: chunks in, events out, without buffering parts. */
import { parse } from "content-disposition";
import { type MultipartError, make } from "multipasta";
import { concatBytes } from "../../platform/crypto/encoding.ts";
import { AppError, type Module } from "../../platform/errors.ts";

const MAX_BOUNDARY_LENGTH = 70;
const BOUNDARY = new RegExp(`^[ !#-\\[\\]-~]{1,${MAX_BOUNDARY_LENGTH}}$`);

function boundaryOf(contentType: string): string | null {
  const { type, parameters } = parse(contentType); // its grammar is that of Content-Disposition
  const { boundary = "" } = parameters;
  return type === "multipart/form-data" && BOUNDARY.test(boundary) ? boundary : null;
}

/** The most parts that a form may have. Real forms have a handful. */
const MAX_PARTS = 32;

export interface PartHead {
  readonly name: string;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

export type FormEvent = PartHead | Uint8Array | "end";

const DASH = 0x2d;
/** Longer than any run of dashes that can end a closing boundary. */
const MAX_DASHES = MAX_BOUNDARY_LENGTH + 10;

function describeError(error: MultipartError): string {
  switch (error._tag) {
    case "ReachedLimit":
      return `The form has more than ${MAX_PARTS} parts`;
    case "EndNotReached":
      return "The form is incomplete: its closing boundary is missing";
    case "BadHeaders":
      return "A part of the form has malformed headers, or headers above 16 KiB";
    default:
      return NAMELESS;
  }
}

const NAMELESS = "Each part of the form needs Content-Disposition: form-data with a name";

export class FormParser {
  readonly #module: Module;
  readonly #parser: ReturnType<typeof make>;
  #events: FormEvent[] = [];
  #isDone = false;
  #heldBack = new Uint8Array();

  /** BAD_REQUEST when the Content-Type is not that of a form. */
  constructor(contentType: string | null, module: Module) {
    this.#module = module;
    const boundary = boundaryOf(contentType ?? "");
    if (boundary === null) {
      throw this.#refuse(
        "The body must be multipart/form-data with a boundary; pass a FormData object and let your HTTP library set Content-Type",
      );
    }
    this.#parser = make({
      headers: { "content-type": `multipart/form-data; boundary="${boundary}"` },
      maxParts: MAX_PARTS,
      // Fields are streamed like files: the endpoint knows how long each one may be.
      isFile: () => true,
      onFile: ({ headers }) => {
        this.#emit(this.#headOf(headers));
        return (bytes) => this.#emit(bytes ?? "end");
      },
      onField: () => {},
      onError: (error) => {
        if (!this.#isDone) throw this.#refuse(describeError(error));
      },
      onDone: () => {
        this.#isDone = true;
      },
    });
  }

  /** The events in the next chunk of the body, which may be views of `chunk`. BAD_REQUEST when it is malformed. */
  write(chunk: Uint8Array): readonly FormEvent[] {
    // multipasta misreads a chunk that ends within the dashes of a closing boundary, so trailing dashes wait.
    const joined = this.#heldBack.byteLength === 0 ? chunk : concatBytes(this.#heldBack, chunk);
    let end = joined.byteLength;
    while (end > 0 && joined[end - 1] === DASH && joined.byteLength - end < MAX_DASHES) end -= 1;
    if (joined.byteLength - end === MAX_DASHES) end = joined.byteLength;
    this.#heldBack = joined.slice(end);
    this.#parse(joined.subarray(0, end));
    return this.#events;
  }

  /** The last events. BAD_REQUEST when the body ends before its closing boundary. */
  end(): readonly FormEvent[] {
    this.#parse(this.#heldBack);
    if (!this.#isDone) this.#parser.end();
    if (!this.#isDone) throw this.#refuse(describeError({ _tag: "EndNotReached" })); // it ended within a part's headers
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

  /** Content after the closing boundary is ignored. */
  #emit(event: FormEvent): void {
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
