/** Conditions of a request for a file (RFC 9110, section 13). */
import type { BlobFacts } from "./blobs.ts";

const CONDITIONS = [
  "If-Match",
  "If-Unmodified-Since",
  "If-None-Match",
  "If-Modified-Since",
  "If-Range",
] as const;

export const isConditional = (headers: Headers): boolean => CONDITIONS.some((name) => headers.has(name));

type Version = Pick<BlobFacts, "etag" | "uploadedAt">;

/** True when a list of tags has the file's, or is `*`. Weak comparison ignores `W/`. */
const hasTag = (list: string, { etag }: Version, isWeak: boolean): boolean =>
  list.trim() === "*" ||
  list.split(",").some((tag) => (isWeak ? tag.trim().replace(/^W\//, "") : tag.trim()) === etag);

/** A time in whole seconds, as headers have it; null for none, or what is no date. */
function secondsOf(date: string | null): number | null {
  const epochMs = Date.parse(date ?? "");
  return Number.isNaN(epochMs) ? null : Math.floor(epochMs / 1000);
}

export const lastModified = ({ uploadedAt }: Version): string => new Date(uploadedAt).toUTCString();

/** The status that the conditions ask for instead of the file: 412 before 304; null for the file. Tags decide before dates. */
export function statusOf(headers: Headers, file: Version): 304 | 412 | null {
  const modifiedAt = Math.floor(file.uploadedAt / 1000);
  const isSince = (name: string, isMet: (since: number) => boolean): boolean => {
    const since = secondsOf(headers.get(name));
    return since === null || isMet(since);
  };
  const wanted = headers.get("If-Match");
  const isRight =
    wanted === null
      ? isSince("If-Unmodified-Since", (since) => modifiedAt <= since)
      : hasTag(wanted, file, false);
  if (!isRight) return 412;
  const known = headers.get("If-None-Match");
  const isNew =
    known === null ? isSince("If-Modified-Since", (since) => modifiedAt > since) : !hasTag(known, file, true);
  return isNew ? null : 304;
}

/** Whether `If-Range` lets a part of the file be served: it has the file's tag or time, or there is none. */
export function isRangeCurrent(headers: Headers, file: Version): boolean {
  const version = headers.get("If-Range")?.trim();
  return version === undefined || version === file.etag || version === lastModified(file);
}
