/** Reads the JSON body of a request. Its size and depth are checked before anything is parsed. */
import type { Module } from "../platform/error-codes.ts";
import { AppError } from "../platform/errors.ts";
import { isTooDeep } from "../platform/text.ts";
import { BrokenOff } from "./form/form-body.ts";

/** The limit of a JSON body, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** How deep arrays and objects in a JSON body may nest. */
export const MAX_DEPTH = 32;

const JSON_TYPE = /^application\/json(?:\s*;|$)/i;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

const tooLarge = (module: Module, maxBytes: number) =>
  new AppError(module, "BAD_REQUEST", `The body is larger than ${maxBytes} bytes`);

/** Reads the body's bytes. BAD_REQUEST as soon as the body turns out to be too large. */
export async function readBody(
  request: Request,
  module: Module,
  maxBytes = MAX_BODY_BYTES,
): Promise<Uint8Array> {
  const declared = request.headers.get("Content-Length");
  if (declared !== null && Number(declared) > maxBytes) throw tooLarge(module, maxBytes);
  if (request.body === null) return new Uint8Array();
  const bytes = declared === null ? collect(request.body, module, maxBytes) : request.arrayBuffer();
  return bytes.then(
    (whole) => new Uint8Array(whole),
    (error: unknown) => {
      throw error instanceof AppError ? error : new BrokenOff(module, error);
    },
  );
}

/** The bytes of a body of unknown length. */
async function collect(
  body: ReadableStream<Uint8Array>,
  module: Module,
  maxBytes: number,
): Promise<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(module, maxBytes);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes.buffer;
}

/**
 * Parses a JSON body. BAD_REQUEST when the Content-Type is not JSON, or the bytes are not UTF-8, not JSON or nested too
 * deep. The last value of a duplicate key counts, as in `JSON.parse`.
 */
export function parseJson(bytes: Uint8Array, contentType: string | null, module: Module): unknown {
  const refuse = (why: string) => new AppError(module, "BAD_REQUEST", why);
  if (!JSON_TYPE.test(contentType ?? ""))
    throw refuse("The body must be JSON: send Content-Type: application/json");
  let json: string;
  try {
    json = decoder.decode(bytes);
  } catch {
    throw refuse("The body is not valid UTF-8");
  }
  if (isTooDeep(json, MAX_DEPTH)) throw refuse(`The body nests deeper than ${MAX_DEPTH} levels`);
  try {
    return JSON.parse(json);
  } catch {
    throw refuse("The body is not valid JSON");
  }
}
