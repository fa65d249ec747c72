/** Takes secrets out of what a run says: `***` stands where one appears as it is, or as JSON writes it. Pure. */
import type { RunReport, Secret } from "../../sandbox/runners/runner.ts";

/** Not longer than any secret: what was within a limit stays so. */
const MASK = "***";

/** The strings and numbers of a JSON text. */
const JSON_VALUE = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** The report without secrets. What a program has encoded otherwise, such as in Base64, stays. */
export function redact(report: RunReport, secrets: readonly Secret[]): RunReport {
  if (secrets.length === 0) return report;
  const mask = maskFor(secrets.map(([, value]) => value));
  const { status, result, logs } = report;
  return {
    ...report,
    result: status === "success" ? maskJson(result, mask) : mask(result),
    logs: logs.map((line) => ({ ...line, message: mask(line.message) })),
  };
}

function maskFor(values: readonly string[]): (text: string) => string {
  const asJson = values.map((value) => JSON.stringify(value).slice(1, -1));
  // The longest first: one may be part of another.
  const hidden = [...new Set([...values, ...asJson])].toSorted((a, b) => b.length - a.length);
  return (text) => hidden.reduce((masked, value) => masked.replaceAll(value, MASK), text);
}

/** Value by value, so that it stays JSON. */
const maskJson = (json: string, mask: (text: string) => string): string =>
  json.replace(JSON_VALUE, (token) => {
    if (!token.startsWith('"')) return mask(token) === token ? token : JSON.stringify(mask(token));
    const text = JSON.parse(token) as string;
    const masked = mask(text);
    return masked === text ? token : JSON.stringify(masked);
  });
