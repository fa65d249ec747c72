/**
 * Describes in plain words the problems of a value, for all schemas. Importing this file sets zod's own
 * sentences.
 */
import * as z from "zod";

type Issue = z.core.$ZodIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  tuple: "an array",
  object: "an object",
  record: "an object",
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: "a UUID",
  url: "a URL",
  email: "an email address",
  datetime: "a time such as 2026-01-31T09:30:00Z",
  date: "a date such as 2026-01-31",
  base64: "Base64",
};

const UNITS: Readonly<Record<string, string>> = {
  string: "character",
  array: "item",
  set: "item",
  map: "entry",
  object: "field",
  record: "field",
};

/** A number has no unit. */
function sizeOf(origin: string, bound: string, size: number | bigint): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `must be ${bound} ${size}`;
  return `must have ${bound} ${size} ${unit}${Number(size) === 1 ? "" : "s"}`;
}

const REQUIRED = "is required";

/** Message for a number that `JSON.parse` made infinite, such as `1e400`. */
export const OVERFLOW = `must be a number of at most ${Number.MAX_VALUE}; send a larger one as a string`;

/** Keys that are seen as such between dots. */
const PLAIN_KEY = /^[^\s."]+$/;

/** Names a place in a value, with other keys in quotes, such as `data.state.""`. `whole` names the value itself. */
export const fieldOf = (path: readonly PropertyKey[], whole = ""): string =>
  path
    .map(String)
    .map((key) => (PLAIN_KEY.test(key) ? key : JSON.stringify(key)))
    .join(".") || whole;

/** The bound of a whole number in JavaScript comes before the field's own one, which is the tighter one. */
const isOfJavaScript = (issue: Issue): boolean =>
  (issue.code === "too_big" || issue.code === "too_small") && issue.origin === "int";

/** The issues without the wider of two bounds of one number. */
export const ownIssues = (issues: readonly Issue[]): readonly Issue[] =>
  issues.filter((issue, index) => {
    const next = issues[index + 1];
    return !(isOfJavaScript(issue) && next !== undefined && fieldOf(next.path) === fieldOf(issue.path));
  });

/** The sentence about a field. */
export const describeField = (field: string, message: string): string =>
  message === REQUIRED ? `${field} ${REQUIRED}` : `${field}: ${message}`;

/** The fault of the alternatives whose type the value has, or of all. */
function describeUnion(alternatives: readonly (readonly Issue[])[]): string {
  const firsts = alternatives.flatMap((issues) => ownIssues(issues)[0] ?? []);
  const close = firsts.filter(({ code, path }) => code !== "invalid_type" || path.length > 0);
  return [...new Set((close.length > 0 ? close : firsts).map(describeInside))].join(", or ");
}

function describeInside(issue: Issue): string {
  const { path, message } = issue;
  if (issue.code === "unrecognized_keys")
    return `${fieldOf([...path, issue.keys[0] ?? ""])} is not a known field`;
  return path.length === 0 ? message : `${fieldOf(path)} ${message}`;
}

function describe(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return REQUIRED;
  switch (issue.code) {
    case "invalid_type":
      if (issue.expected === "number" && Math.abs(Number(issue.input)) === Infinity) return OVERFLOW;
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return sizeOf(
        issue.origin,
        issue.exact ? "exactly" : issue.inclusive ? "at least" : "more than",
        issue.minimum,
      );
    case "too_big":
      return sizeOf(
        issue.origin,
        issue.exact ? "exactly" : issue.inclusive ? "at most" : "less than",
        issue.maximum,
      );
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return issue.format === "regex"
        ? `must match ${issue.pattern}`
        : `must be ${FORMATS[issue.format] ?? `of the format ${issue.format}`}`;
    case "unrecognized_keys":
      return `has the unknown field${issue.keys.length === 1 ? "" : "s"} ${issue.keys.map((key) => fieldOf([key])).join(", ")}`;
    case "invalid_union":
      return Array.isArray(issue.options)
        ? `must be one of ${issue.options.map(String).join(", ")}`
        : describeUnion(issue.errors);
    case "invalid_key":
    case "invalid_element":
      return `has an entry that is not valid: ${ownIssues(issue.issues).map(describeInside)[0]}`;
    default:
      return "is not valid";
  }
}

z.config({ localeError: describe });
