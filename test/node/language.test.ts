/** The words of code, tests and documents: terms that the glossary replaced, and phrases that read as translated, stay out. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const ROOT = path.join(import.meta.dirname, "../..");
const FILES = ["{src,packages}/**/*.{ts,tsx}", "{scripts,test}/**/*.{ts,tsx}", "docs/**/*.md", "*.md"];
const NOT_OURS = /(^|\/)node_modules\/|^test\/node\/language\.test\.ts$/;

/** What must not be written, and what to write instead. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/\bcouriers?\b/i, "handler"],
  [/\b(corridors?|furniture)\b/i, "request pipeline, or the plain word"],
  [/\bdoors?\b/i, "endpoint"],
  // The quoted word is the state of files that versions before migration 0007 wrote.
  [/(?<!")\b(doomed?|dooms)\b/i, "marked for deletion"],
  [/\bhandovers?\b/i, "outbox drain"],
  [/\badmissions?\b/i, "join handshake, authorization"],
  [/\bcomebacks?\b/i, "reconnect"],
  [/\bsurroundings\b/i, "runtime"],
  [/\b(weaves?|woven|weaving)\b/i, "instrument"],
  [/\bgathering\b/i, "occupancy period"],
  [/\b(nobody|somebody)\b/i, "no one, someone, or the role: a user, a member"],
  [/\bwhoever\b/i, "the role: the caller, the operator"],
  [/\b(tells?|told|telling) of\b/i, "reports, describes"],
  [/\b(is|are|was|were|be|been) told\b/i, "is notified of, receives"],
  [/\bhears? of\b/i, "receives, is notified of"],
  [/\bbefalls?\b/i, "happens to"],
  [/\bin nobody's way\b/i, "the plain statement"],
];

it("uses the glossary's terms and plain phrases", () => {
  const files = FILES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).filter(
    (file) => !NOT_OURS.test(file),
  );
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((file) =>
    readFileSync(path.join(ROOT, file), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        REPLACED.filter(([pattern]) => pattern.test(line)).map(
          ([pattern, instead]) => `${file}:${index + 1}: ${pattern.exec(line)?.[0]} → ${instead}`,
        ),
      ),
  );
  expect(found).toEqual([]);
}, 60_000);
