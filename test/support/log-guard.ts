/** Captures the service's errors and warnings in the log: an entry that the test does not expect fails it. */
import { expect } from "vitest";

const messages: string[] = [];
const permitted: RegExp[] = [];

/** Replaces the console's methods for errors and warnings until the test file ends. */
export function captureLog(): void {
  for (const level of ["error", "warn"] as const) {
    console[level] = (...parts: unknown[]) => {
      messages.push(messageOf(parts));
    };
  }
}

/** The message of an entry of `src/platform/log.ts`, with the error that caused it; otherwise all that was written. */
function messageOf(parts: readonly unknown[]): string {
  const text = parts.map(String).join(" ");
  if (!text.startsWith('{"level":')) return text;
  const { message, error } = JSON.parse(text) as { message: string; error?: string };
  return error === undefined ? message : `${message}: ${error}`;
}

/** Number of logged messages that contain this and were not taken yet. A test waits for it before it expects them. */
export const countLogged = (text: string): number =>
  messages.filter((message) => message.includes(text)).length;

/**
 * Takes the messages logged since they were last taken, and asserts that each text occurs in one, and that each contains
 * one or is permitted.
 */
export function expectLogged(...texts: readonly string[]): void {
  const logged = messages.splice(0);
  const isExpected = (message: string) =>
    texts.some((text) => message.includes(text)) || permitted.some((pattern) => pattern.test(message));
  const unexpected = logged.filter((message) => !isExpected(message));
  const missing = texts.filter((text) => !logged.some((message) => message.includes(text)));
  expect({ unexpected, missing }).toEqual({ unexpected: [], missing: [] });
}

/** Permits a log entry that an eviction or another race may prevent. */
export function permitLogged(pattern: RegExp): void {
  permitted.push(pattern);
}

/** Ends a test: fails it when it logged anything that it neither expected nor permitted. */
export function expectNothingElseLogged(): void {
  const patterns = permitted.splice(0);
  const unexpected = messages.splice(0).filter((message) => !patterns.some((each) => each.test(message)));
  expect(unexpected, "logged, and not expected with expectLogged()").toEqual([]);
}
