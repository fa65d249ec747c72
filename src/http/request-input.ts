/** Reads the JSON body of a request. Size and depth are checked before parsing. */

import { AppError, type Module } from "@atrium/contract/errors.ts";
import { describeField, fieldOf, ownIssues } from "@atrium/contract/issues.ts";
import { describeOverflow, findOverflow, isPlainText, isTooDeep } from "@atrium/contract/text.ts";
import * as z from "zod";
import { concatBytes } from "../platform/crypto/encoding.ts";
import { ClientLeftError } from "./form/client-left-error.ts";
import { refuseEncoding } from "./form/content-encoding.ts";

export const MAX_BODY_BYTES = 1024 * 1024;

export const MAX_DEPTH = 32;

const JSON_TYPE = /^application\/json(?:\s*;|$)/i;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

export class BodyTooLarge extends AppError {
  constructor(module: Module, maxBytes: number) {
    super(module, "BAD_REQUEST", `The body is larger than ${maxBytes} bytes`);
  }
}

/** Reads the body's bytes. UNSUPPORTED_MEDIA_TYPE for an encoded body, BAD_REQUEST as soon as it turns out to be too large. */
export async function readBody(
  request: Request,
  module: Module,
  maxBytes = MAX_BODY_BYTES,
): Promise<Uint8Array> {
  refuseEncoding("Content-Encoding", request.headers.get("Content-Encoding"), module);
  const declared = request.headers.get("Content-Length");
  if (declared !== null && Number(declared) > maxBytes) throw new BodyTooLarge(module, maxBytes);
  if (request.body === null) return new Uint8Array();
  const bytes = declared === null ? collect(request.body, module, maxBytes) : request.arrayBuffer();
  return bytes.then(
    (whole) => new Uint8Array(whole),
    (error: unknown) => {
      throw error instanceof AppError ? error : new ClientLeftError(module, error);
    },
  );
}

async function collect(
  body: ReadableStream<Uint8Array>,
  module: Module,
  maxBytes: number,
): Promise<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new BodyTooLarge(module, maxBytes);
    chunks.push(chunk);
  }
  return concatBytes(...chunks).buffer;
}

/** BAD_REQUEST for another Content-Type, bad UTF-8 or JSON, or deep nesting. The last of duplicate keys counts. */
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
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw refuse("The body is not valid JSON");
  }
  return value;
}

/** VALIDATION_ERROR if a parsed number exceeds JavaScript's range, such as `1e400`. */
export function refuseOverflow(value: unknown, whole: string, module: Module): void {
  const overflow = findOverflow(value);
  if (overflow !== null) throw new AppError(module, "VALIDATION_ERROR", describeOverflow(overflow, whole));
}

/** Describes the problems of a value, each beginning with the field's name. `whole` names the value itself. */
export function explain(error: z.ZodError, whole: string): string {
  const sentences = ownIssues(error.issues)
    .slice(0, 3)
    .map((issue) => {
      if (issue.code === "unrecognized_keys")
        return issue.keys.map((key) => `${fieldOf([...issue.path, key])}: is not a known field`).join("; ");
      return describeField(fieldOf(issue.path, whole), issue.message);
    });
  return sentences.join("; ");
}

function decode(component: string): string | null {
  try {
    const value = decodeURIComponent(component);
    return isPlainText(value) ? value : null;
  } catch {
    return null;
  }
}

/** BAD_REQUEST unless the path of a URL is percent-encoded UTF-8 without NUL. The router accepts anything. */
export function checkPath(url: string, module: Module): void {
  if (url.includes("%") && decode(new URL(url).pathname) === null) {
    throw new AppError(module, "BAD_REQUEST", "The path is not valid percent-encoded UTF-8");
  }
}

/** True for a parameter that may be repeated, because its schema is an array. */
export const isRepeatable = (field: unknown): boolean =>
  field instanceof z.ZodDefault ? isRepeatable(field.unwrap()) : field instanceof z.ZodArray;

/** Ignores unknown parameters. BAD_REQUEST for a badly encoded, missing, invalid or wrongly repeated one. */
export function checkQuery<T extends z.ZodObject>(schema: T, search: string, module: Module): z.infer<T> {
  const values: Record<string, string | string[]> = {};
  const refuse = (why: string) => new AppError(module, "BAD_REQUEST", why);
  for (const pair of search.slice(1).split("&")) {
    if (pair === "") continue;
    const [rawName = "", ...rawValue] = pair.replaceAll("+", " ").split("=");
    const name = decode(rawName);
    const value = decode(rawValue.join("="));
    if (name === null || !Object.hasOwn(schema.shape, name)) continue;
    if (value === null) throw refuse(`${name} must be percent-encoded UTF-8 without NUL`);
    const earlier = Object.hasOwn(values, name) ? values[name] : undefined;
    if (isRepeatable(schema.shape[name])) values[name] = [earlier ?? [], value].flat();
    else if (earlier === undefined) values[name] = value;
    else throw refuse(`${name} must not be repeated`);
  }
  const result = schema.safeParse(values);
  if (!result.success) throw refuse(explain(result.error, "query"));
  return result.data;
}

export function checkBody<T>(schema: z.ZodType<T>, value: unknown, module: Module): T {
  const result = schema.safeParse(value);
  if (!result.success) throw new AppError(module, "VALIDATION_ERROR", explain(result.error, "body"));
  refuseOverflow(value, "body", module);
  return result.data;
}
