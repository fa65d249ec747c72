/** What a setting's text can be: zod types whose messages follow the setting's name. */
import * as z from "zod";
import { parseHosts } from "../network.ts";

export const optionalText = z
  .string()
  .optional()
  .transform((value) => value || undefined);

/** Comma-separated items; empty by default. */
const listOf = (itemOf: (text: string) => string) =>
  z
    .string()
    .default("")
    .transform((setting) =>
      setting
        .split(",")
        .map((text) => itemOf(text.trim()))
        .filter((item) => item !== ""),
    );

export const names = listOf((name) => name);

export const domains = listOf((domain) => domain.toLowerCase().replace(/^@/, ""));

export const hosts = z.string().default("").transform(parseHosts);

/** A number that a pattern describes. Anything else is an error, so that a typo cannot remove a limit. */
const numberLike = (pattern: RegExp, range: string, fallback: number) =>
  z
    .string()
    .default("")
    .refine(
      (value) => value === "" || pattern.test(value),
      `must be a whole number from ${range}; remove it to use ${fallback}`,
    )
    .transform((value) => (value === "" ? fallback : Number(value)));

export const wholeNumber = (fallback: number) => numberLike(/^[1-9]\d{0,8}$/, "1 to 999999999", fallback);

/** A count that may be larger than what {@link wholeNumber} accepts, such as of bytes, or 0. */
export const largeNumber = (fallback: number) =>
  numberLike(/^(0|[1-9]\d{0,14})$/, "0 to 999999999999999", fallback);

export const onOrOff = z
  .string()
  .default("")
  .pipe(z.enum(["", "on", "off"], 'must be "on" or "off"'));

export const origin = optionalText.transform((value, issues) => {
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  if (url !== null && /^https?:$/.test(url.protocol) && value.replace(/\/$/, "") === url.origin)
    return url.origin;
  issues.addIssue("must be an origin such as https://atrium.example, without a path");
  return z.NEVER;
});

/** Text that what needs it cannot do without; `remedy` says how to set it. */
export const required = (remedy: string) => {
  const problem = `is not set: ${remedy}`;
  return z.string(problem).trim().min(1, problem);
};
