/** Reads JSON bodies from strangers: bounded in size and depth before anything is parsed. */
import type * as z from "zod";
import type { Module } from "../platform/error-codes.ts";
import { AppError } from "../platform/errors.ts";
import { isTooDeep } from "../platform/text.ts";
import { explain } from "./validate.ts";

/** A JSON body may have this many bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** And arrays and objects in it may stand this deep in each other. */
export const MAX_DEPTH = 32;

const JSON_TYPE = /^application\/json(?:\s*;|$)/i;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

const tooLarge = (module: Module) =>
  new AppError(module, "BAD_REQUEST", `The body is larger than ${MAX_BODY_BYTES} bytes`);

/** The body's bytes; refuses one that is larger than allowed as soon as that is known. */
export async function readBody(request: Request, module: Module): Promise<Uint8Array> {
  const declared = request.headers.get("Content-Length");
  if (declared !== null && Number(declared) > MAX_BODY_BYTES) throw tooLarge(module);
  if (request.body === null) return new Uint8Array();
  if (declared !== null) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as ReadableStream<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw tooLarge(module);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/**
 * The JSON value in `bytes`. BAD_REQUEST when the type is not JSON, or the bytes are not UTF-8, not JSON or
 * too deep. Of a duplicate key the last value counts, as `JSON.parse` has it.
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

/** The value as its schema has it; VALIDATION_ERROR with the field's name when it breaks it. */
export function checkBody<T>(schema: z.ZodType<T>, value: unknown, module: Module): T {
  const result = schema.safeParse(value);
  if (!result.success) throw new AppError(module, "VALIDATION_ERROR", explain(result.error, "body"));
  return result.data;
}
