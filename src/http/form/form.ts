/** An uploaded form, read part by part as it arrives, so that its size costs no memory. */

import { createHash } from "node:crypto";
import { AppError, type Module } from "@atrium/contract/errors.ts";
import type * as z from "zod";
import { ClientLeftError } from "./client-left-error.ts";
import { refuseEncoding } from "./content-encoding.ts";
import { type FormEvent, FormParser, type PartHead } from "./form-parser.ts";

export interface FormDescription {
  readonly fields: z.ZodObject;
  readonly maxBytes: number;
  readonly tooLarge: string;
}

/** One part of a form. Requesting the next part loses the bytes of this one. */
export interface Part extends PartHead {
  bytes(): AsyncGenerator<Uint8Array, void>;
}

/** Two forms of equal content have equal digests, whatever their boundaries. */
interface Digest {
  update(event: FormEvent): void;
  finish(): string;
}

export class Form {
  /** The most bytes that a part can have: the body's Content-Length, or else its limit. */
  readonly maxBytes: number;
  readonly #body: Body;
  readonly #events: AsyncGenerator<FormEvent, void>;
  readonly #digest: Digest | null;
  #digested: string | undefined;

  /** UNSUPPORTED_MEDIA_TYPE for an encoded body, BAD_REQUEST for no form or a too large Content-Length. {@link digest} requires `isDigested`. */
  constructor(request: Request, description: FormDescription, module: Module, isDigested: boolean) {
    refuseEncoding("Content-Encoding", request.headers.get("Content-Encoding"), module);
    const { maxBytes, tooLarge } = description;
    const refusal = new AppError(module, "BAD_REQUEST", tooLarge);
    this.maxBytes = Number(request.headers.get("Content-Length") ?? maxBytes);
    if (!(this.maxBytes >= 0 && this.maxBytes <= maxBytes)) throw refusal;
    this.#digest = isDigested ? openDigest() : null;
    const parser = new FormParser(request.headers.get("Content-Type"), module);
    this.#body = new Body(request.body, this.maxBytes, refusal);
    this.#events = this.#observe(readEvents(this.#body, parser));
  }

  /** The parts in order. BAD_REQUEST as soon as the form turns out to be malformed or too large. */
  async *parts(): AsyncGenerator<Part, void> {
    const events = this.#events;
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value instanceof Uint8Array || next.value === "end") continue; // skips the rest of a part that was not read to its end
      yield { ...next.value, bytes: () => bytesOfPart(events) };
    }
  }

  /** SHA-256 of the form's content without its boundary. Reads the rest of the form first. */
  async digest(): Promise<string> {
    if (this.#digest === null) throw new Error("The form was not opened to be digested");
    for await (const _ of this.#events);
    this.#digested ??= this.#digest.finish();
    return this.#digested;
  }

  /** Reads and discards the rest: many clients read no response before they have sent everything. Never rejects. */
  drain(): Promise<void> {
    return this.#body.drain();
  }

  async *#observe(events: AsyncGenerator<FormEvent, void>): AsyncGenerator<FormEvent, void> {
    for await (const event of events) {
      this.#digest?.update(event);
      yield event;
    }
  }
}

async function* bytesOfPart(events: AsyncGenerator<FormEvent, void>): AsyncGenerator<Uint8Array, void> {
  for (let next = await events.next(); !next.done; next = await events.next()) {
    if (!(next.value instanceof Uint8Array)) return;
    yield next.value;
  }
}

async function* readEvents(body: Body, parser: FormParser): AsyncGenerator<FormEvent, void> {
  for (let chunk = await body.read(); chunk !== null; chunk = await body.read()) yield* parser.write(chunk);
  yield* parser.end();
}

function openDigest(): Digest {
  const hash = createHash("sha256");
  let size = 0;
  return {
    update(event) {
      if (event instanceof Uint8Array) {
        size += event.byteLength;
        hash.update(event);
        return;
      }
      // Lengths and JSON quotes keep different forms from hashing the same bytes.
      hash.update(event === "end" ? `${size}\n` : `${JSON.stringify(event)}\n`);
      size = 0;
    },
    finish: () => hash.digest("hex"),
  };
}

/** Size of a read. The platform's default is 4 KiB, and every read costs a turn of the event loop. */
const READ_BYTES = 64 * 1024;
const NO_BYTES = new Uint8Array();

interface MinimumReader {
  /** Waits for at least `bytes` bytes or the end. The last bytes may come together with `done` or before it. */
  readAtLeast(
    bytes: number,
    into: Uint8Array,
  ): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

const openReader = (body: ReadableStream<Uint8Array>): MinimumReader =>
  body.getReader({ mode: "byob" }) as unknown as MinimumReader;

/** A request's body, read in chunks up to a bound. */
class Body {
  readonly #reader: MinimumReader | null;
  readonly #tooLarge: AppError;
  #remaining: number;
  #isDone = false;

  /** Throws `tooLarge` above `maxBytes`, and {@link ClientLeftError} for an early end. */
  constructor(stream: ReadableStream<Uint8Array> | null, maxBytes: number, tooLarge: AppError) {
    this.#reader = stream && openReader(stream);
    this.#remaining = maxBytes;
    this.#tooLarge = tooLarge;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#reader === null || this.#isDone) return null;
    const { value = NO_BYTES, done } = await this.#reader
      .readAtLeast(READ_BYTES, new Uint8Array(READ_BYTES))
      .catch((error: unknown) => {
        throw new ClientLeftError(this.#tooLarge.module, error);
      });
    this.#isDone = done;
    this.#remaining -= value.byteLength;
    if (this.#remaining < 0) throw this.#tooLarge;
    return value;
  }

  /** Reads and discards the rest, up to the limit. Never rejects. */
  async drain(): Promise<void> {
    try {
      while ((await this.read()) !== null);
    } catch {
      // The body ended early or exceeds its limit: the response can be sent either way.
    }
  }
}
