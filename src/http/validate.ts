/** Validates the path, the query and the parsed body of requests. */
import * as z from "zod";
import type { Module } from "../platform/error-codes.ts";
import { AppError } from "../platform/errors.ts";
import { isPlainText } from "../platform/text.ts";

/** Explains what is wrong with a value, beginning with the field's name. `whole` names the value itself. */
export function explain(error: z.ZodError, whole: string): string {
  const sentences = error.issues.slice(0, 3).map((issue) => {
    const field = issue.path.length === 0 ? whole : issue.path.join(".");
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => `${[...issue.path, key].join(".")}: is not a known field`).join("; ");
    }
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

/** BAD_REQUEST unless the path of a URL is percent-encoded UTF-8 without NUL. The router accepts anything. */
export function checkPath(url: string, module: Module): void {
  if (url.includes("%") && decode(new URL(url).pathname) === null) {
    throw new AppError(module, "BAD_REQUEST", "The path is not valid percent-encoded UTF-8");
  }
}

/** True for a parameter that may be repeated, because its schema is an array. */
export const isRepeatable = (field: unknown): boolean =>
  field instanceof z.ZodDefault ? isRepeatable(field.unwrap()) : field instanceof z.ZodArray;

/**
 * Parses the query parameters in `schema` and ignores others. BAD_REQUEST when one is badly encoded, missing, invalid,
 * or repeated without being an array.
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
    else throw refuse(`${name} must not be repeated`);
  }
  const result = schema.safeParse(values);
  if (!result.success) throw refuse(explain(result.error, "query"));
  return result.data;
}

/** Parses a body with its schema. VALIDATION_ERROR, which names the field, when it is invalid. */
export function checkBody<T>(schema: z.ZodType<T>, value: unknown, module: Module): T {
  const result = schema.safeParse(value);
  if (!result.success) throw new AppError(module, "VALIDATION_ERROR", explain(result.error, "body"));
  return result.data;
}
