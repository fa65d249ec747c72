/** Reads what stands in an address, strictly: percent-encoding that is broken, and parameters given twice. */
import * as z from "zod";
import type { Module } from "../platform/error-codes.ts";
import { AppError } from "../platform/errors.ts";
import { isPlainText } from "../platform/text.ts";

/** What a schema has against a value, in a sentence that begins with the field's name. */
export function explain(error: z.ZodError, whole: string): string {
  const sentences = error.issues.slice(0, 3).map((issue) => {
    const field = issue.path.length === 0 ? whole : issue.path.join(".");
    const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
    return missing ? `${field} is required` : `${field}: ${issue.message}`;
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

/** BAD_REQUEST unless every part of the path is percent-encoded UTF-8 without NUL; the router would let it pass. */
export function checkPath(pathname: string, module: Module): void {
  if (pathname.includes("%") && decode(pathname) === null) {
    throw new AppError(module, "BAD_REQUEST", "The path is not valid percent-encoded UTF-8");
  }
}

/** True for a parameter that may be given several times: its schema, below its default, is a list. */
export const isRepeatable = (field: unknown): boolean =>
  field instanceof z.ZodDefault ? isRepeatable(field.unwrap()) : field instanceof z.ZodArray;

/**
 * The query parameters that `schema` knows, parsed; others are ignored.
 * BAD_REQUEST when one is badly encoded, missing or wrong, or is given twice and is no list.
 */
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
    else throw refuse(`${name} may be given only once`);
  }
  const result = schema.safeParse(values);
  if (!result.success) throw refuse(explain(result.error, "query"));
  return result.data;
}
