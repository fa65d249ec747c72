/** Answers with a file's bytes, safely on our own origin whatever the file is, and caches it for good. */
import { create } from "content-disposition";
import type { Ctx } from "../context.ts";
import { notFound } from "../errors.ts";
import type { Blob, BlobFacts } from "./blobs.ts";
import { parseKey } from "./key.ts";
import { isShownInline, servedType } from "./media-type.ts";
import { contentRange, parseRange, type Slice, sliceOf } from "./range.ts";

/** A key is never used again, so what it names never changes; deleting it does not reach into caches. */
const COMMON_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "Accept-Ranges, Content-Disposition, Content-Range, ETag, X-Request-Id",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Accept-Ranges": "bytes",
};

const CACHED_FOR_GOOD = { "Cache-Control": "public, max-age=31536000, immutable" };

/** True when the caller has this very version already (`If-None-Match`, RFC 9110 section 13.1.2). */
const isKnown = (header: string | null, etag: string): boolean =>
  header !== null &&
  (header.trim() === "*" ||
    header.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag));

/** Answers a GET or HEAD. NOT_FOUND when no such file is stored. The key is the only credential. */
export async function serveFile(ctx: Ctx, key: string, request: Request): Promise<Response> {
  const missing = notFound("Files", "File");
  const parsed = parseKey(key);
  if (parsed === null) throw missing;
  const address = { accountId: ctx.accountId, key };
  const { headers } = request;
  const isHead = request.method === "HEAD";
  const condition = headers.get("If-None-Match");
  const unlessChanged = headers.get("If-Range");
  const wanted = isHead ? null : parseRange(headers.get("Range"));

  const facts =
    isHead || condition !== null || unlessChanged !== null ? await ctx.blobs.head(address) : undefined;
  if (facts === null) throw missing;
  if (facts !== undefined && isKnown(condition, facts.etag)) return notModified(facts);
  if (facts !== undefined && isHead) return whole(facts, parsed.filename, null);
  const range = unlessChanged === null || unlessChanged === facts?.etag ? wanted : null;

  const blob = await ctx.blobs.get(address, range);
  if (blob === "unsatisfiable") return unsatisfiable((await ctx.blobs.head(address))?.size ?? 0);
  if (blob === null) throw missing;
  const slice = range && sliceOf(range, blob.size);
  return slice === null ? whole(blob, parsed.filename, blob.body) : part(blob, parsed.filename, slice);
}

const headersOf = ({ mimeType, etag }: BlobFacts, filename: string) => ({
  ...COMMON_HEADERS,
  ...CACHED_FOR_GOOD,
  "Content-Type": servedType(mimeType),
  "Content-Disposition": create(filename, { type: isShownInline(mimeType) ? "inline" : "attachment" }),
  ETag: etag,
});

const whole = (facts: BlobFacts, filename: string, body: ReadableStream | null): Response =>
  new Response(body, { headers: { ...headersOf(facts, filename), "Content-Length": String(facts.size) } });

const part = (blob: Blob, filename: string, slice: Slice): Response =>
  new Response(blob.body, {
    status: 206,
    headers: {
      ...headersOf(blob, filename),
      "Content-Length": String(slice.length),
      "Content-Range": contentRange(slice, blob.size),
    },
  });

const notModified = ({ etag }: BlobFacts): Response =>
  new Response(null, { status: 304, headers: { ...COMMON_HEADERS, ...CACHED_FOR_GOOD, ETag: etag } });

const unsatisfiable = (size: number): Response =>
  new Response(null, {
    status: 416,
    headers: { ...COMMON_HEADERS, "Cache-Control": "no-store", "Content-Range": contentRange(null, size) },
  });
