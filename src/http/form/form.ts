/** A form on its way in: read part by part while it comes, so that its size costs no memory. */
import { createHash } from "node:crypto";
import type * as z from "zod";
import type { Module } from "../../platform/error-codes.ts";
import { AppError } from "../../platform/errors.ts";
import { Body } from "./form-body.ts";
import { type FormEvent, FormParser, type PartHead } from "./form-parser.ts";

/** What an endpoint says of the form that it takes. */
export interface FormDescription {
  /** The fields, for the API's description. */
  readonly fields: z.ZodObject;
  /** The whole body may have this many bytes. */
  readonly maxBytes: number;
  /** What a caller is told whose body has more. */
  readonly tooLarge: string;
}

/** One part of a form. Its bytes must be read, or passed over, before the next part is asked for. */
export interface Part extends PartHead {
  /** The part's bytes, in pieces. */
  bytes(): AsyncGenerator<Uint8Array, void>;
}

/** Told of all that a form says, to tell two forms apart whose boundaries differ. */
interface Digest {
  update(event: FormEvent): void;
  finish(): string;
}

export class Form {
  /** No part has more bytes: the body's announced length, or the most that it may have. */
  readonly maxBytes: number;
  readonly #body: Body;
  readonly #events: AsyncGenerator<FormEvent, void>;
  readonly #digest: Digest | null;
  #digested: string | undefined;

  /**
   * BAD_REQUEST when the request's body is no form, or is announced as larger than allowed.
   * With `isDigested`, {@link digest} can be asked for.
   */
  constructor(request: Request, description: FormDescription, module: Module, isDigested: boolean) {
    const { maxBytes, tooLarge } = description;
    const refusal = new AppError(module, "BAD_REQUEST", tooLarge);
    this.maxBytes = Number(request.headers.get("Content-Length") ?? maxBytes);
    if (!(this.maxBytes >= 0 && this.maxBytes <= maxBytes)) throw refusal;
    this.#digest = isDigested ? openDigest() : null;
    const parser = new FormParser(request.headers.get("Content-Type"), module);
    this.#body = new Body(request.body, this.maxBytes, refusal);
    this.#events = this.#observe(readEvents(this.#body, parser));
  }

  /** The parts in their order. BAD_REQUEST, as soon as that is known, when the form is malformed or too large. */
  async *parts(): AsyncGenerator<Part, void> {
    const events = this.#events;
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value instanceof Uint8Array || next.value === "end") continue; // of a part that was not read to its end
      yield { ...next.value, bytes: () => bytesOfPart(events) };
    }
  }

  /** SHA-256 of the form's content; reads what has not been read yet. The boundary is not part of it. */
  async digest(): Promise<string> {
    if (this.#digest === null) throw new Error("The form was not opened to be digested");
    for await (const _ of this.#events);
    this.#digested ??= this.#digest.finish();
    return this.#digested;
  }

  /** Passes over what the caller is still sending: one that is not listened to hears no refusal. Never rejects. */
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
      // Lengths and quotes: no two forms are written alike.
      hash.update(event === "end" ? `${size}\n` : `${JSON.stringify(event)}\n`);
      size = 0;
    },
    finish: () => hash.digest("hex"),
  };
}
