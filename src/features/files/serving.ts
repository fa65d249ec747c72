/** Serves a file's bytes, safe on the service's own origin whatever the file contains, and cacheable forever. */

import { notFound } from "@atrium/contract/errors.ts";
import { create } from "content-disposition";
import type { FileContext } from "./context.ts";
import { type ParsedKey, parseKey } from "./file-name.ts";
import type { Blob, BlobFacts } from "./storage/blobs.ts";
import { isConditional, isRangeCurrent, lastModified, statusOf } from "./storage/conditions.ts";
import { isShownInline, servedType } from "./storage/media-type.ts";
import { contentRange, parseRange, type RangeFrom, type Slice, sliceOf } from "./storage/range.ts";

const COMMON_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "Accept-Ranges, Content-Disposition, Content-Range, ETag, X-Request-Id",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Accept-Ranges": "bytes",
};

const CACHED_FOREVER = { "Cache-Control": "public, max-age=31536000, immutable" };

/** Serves a GET or HEAD request. The key is the only credential. NOT_FOUND when no such file is stored. */
export async function serveFile(ctx: FileContext, key: string, request: Request): Promise<Response> {
  const parsed = parseKey(key);
  if (parsed === null) throw notFound("Files", "File");
  const { headers, method } = request;
  const wanted = method === "HEAD" ? null : parseRange(headers.get("Range"));
  const isDirect = method !== "HEAD" && !isConditional(headers);
  // A plain GET, or a range with a start, takes one R2 call. All else needs the file's metadata first.
  if (isDirect && (wanted === null || "offset" in wanted)) return readFile(ctx, parsed, wanted);

  const facts = await ctx.blobs.head({ accountId: ctx.accountId, key });
  if (facts === null) throw notFound("Files", "File");
  const status = statusOf(headers, facts);
  if (status === 412) return preconditionFailed(facts);
  if (status === 304) return notModified(facts);
  if (method === "HEAD") return whole(facts, parsed.filename, null);
  if (wanted === null || !isRangeCurrent(headers, facts)) return readFile(ctx, parsed, null);
  const slice = sliceOf(wanted, facts.size);
  return slice === null ? unsatisfiable(facts.size) : readFile(ctx, parsed, slice);
}

async function readFile(
  ctx: FileContext,
  { key, filename }: ParsedKey,
  range: RangeFrom | null,
): Promise<Response> {
  const blob = await ctx.blobs.get({ accountId: ctx.accountId, key }, range);
  if (blob === null) throw notFound("Files", "File");
  if (blob.body === null) return unsatisfiable(blob.size);
  const slice = range && sliceOf(range, blob.size);
  return slice === null ? whole(blob, filename, blob.body) : part(blob, filename, slice);
}

const versionOf = (facts: BlobFacts) => ({ ETag: facts.etag, "Last-Modified": lastModified(facts) });

const headersOf = (facts: BlobFacts, filename: string) => ({
  ...COMMON_HEADERS,
  ...CACHED_FOREVER,
  ...versionOf(facts),
  "Content-Type": servedType(facts.mimeType),
  "Content-Disposition": create(filename, { type: isShownInline(facts.mimeType) ? "inline" : "attachment" }),
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

const notModified = (facts: BlobFacts): Response =>
  new Response(null, { status: 304, headers: { ...COMMON_HEADERS, ...CACHED_FOREVER, ...versionOf(facts) } });

const preconditionFailed = (facts: BlobFacts): Response =>
  new Response(null, {
    status: 412,
    headers: { ...COMMON_HEADERS, ...versionOf(facts), "Cache-Control": "no-store" },
  });

const unsatisfiable = (size: number): Response =>
  new Response(null, {
    status: 416,
    headers: { ...COMMON_HEADERS, "Cache-Control": "no-store", "Content-Range": contentRange(null, size) },
  });
