/** Buckets as an S3 serves them: stores what is signed, by its own computation of Signature Version 4. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

export const BUCKET_KEY = { accessKeyId: "key-of-the-bucket", secretAccessKey: "secret/of+the/bucket" };
const REGION = "us-east-1";
const MAX_SKEW_MS = 15 * 60_000;

/** The objects of each bucket by their names, in the order of their last writes. */
const buckets = new Map<string, Map<string, Buffer>>();
/** Buckets that lose the answer to the next request, after they have done it. */
const losing = new Set<string>();

const sha256 = (data: Buffer | string): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: Buffer | string, data: string): Buffer => createHmac("sha256", key).update(data).digest();

/** The code of the refusal; null for a request that is signed as the documentation of S3 says. */
function refusalOf({ method = "", url = "", headers }: IncomingMessage, body: Buffer): string | null {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(.+), ?SignedHeaders=(.+), ?Signature=([0-9a-f]{64})$/;
  const [, accessKeyId, scope = "", names = "", signature = ""] =
    pattern.exec(headers.authorization ?? "") ?? [];
  if (accessKeyId !== BUCKET_KEY.accessKeyId) return "InvalidAccessKeyId";
  const time = String(headers["x-amz-date"]);
  const at = Date.parse(time.replace(/^(....)(..)(..T..)(..)(..Z)$/, "$1-$2-$3:$4:$5"));
  if (!(Math.abs(Date.now() - at) < MAX_SKEW_MS)) return "RequestTimeTooSkewed";
  const [day = "", region, service, end] = scope.split("/");
  if (day !== time.slice(0, 8) || region !== REGION || service !== "s3" || end !== "aws4_request")
    return "AuthorizationHeaderMalformed";
  if (headers["x-amz-content-sha256"] !== sha256(body)) return "XAmzContentSHA256Mismatch";
  const signed = names.split(";");
  if (!["host", "x-amz-content-sha256", "x-amz-date"].every((name) => signed.includes(name)))
    return "AccessDenied";
  const { pathname, search } = new URL(url, "http://bucket");
  const canonical = [
    ...[method, pathname, search.slice(1)],
    ...signed.map((name) => `${name}:${headers[name]}`),
    ...["", names, sha256(body)],
  ].join("\n");
  const key = [day, REGION, "s3", "aws4_request"].reduce<Buffer | string>(
    hmac,
    `AWS4${BUCKET_KEY.secretAccessKey}`,
  );
  const expected = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n"));
  return timingSafeEqual(expected, Buffer.from(signature, "hex")) ? null : "SignatureDoesNotMatch";
}

/**
 * Answers `/s3/BUCKET/NAME`. Without a signature, `GET /s3-content/BUCKET` has the objects as Base64 by their names, and
 * `GET /s3-lose/BUCKET` loses the next answer.
 */
export function answerAsBucket(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? "/", "http://bucket");
  const [, kind, bucket = "", ...names] = pathname.split("/");
  const objects = buckets.get(bucket) ?? new Map<string, Buffer>();
  buckets.set(bucket, objects);
  if (kind === "s3-content") {
    response.end(JSON.stringify([...objects].map(([name, bytes]) => [name, bytes.toString("base64")])));
    return;
  }
  if (kind === "s3-lose") {
    losing.add(bucket);
    response.end();
    return;
  }
  const refusal = refusalOf(request, body);
  if (refusal !== null) {
    response.writeHead(403, { "Content-Type": "application/xml" });
    response.end(`<?xml version="1.0"?><Error><Code>${refusal}</Code><Message>No.</Message></Error>`);
    return;
  }
  const name = names.join("/");
  objects.delete(name);
  if (request.method === "PUT") objects.set(name, body);
  if (losing.delete(bucket)) response.socket?.resetAndDestroy();
  else if (request.method === "PUT") response.writeHead(200, { ETag: `"${sha256(body)}"` }).end();
  else response.writeHead(204).end();
}
