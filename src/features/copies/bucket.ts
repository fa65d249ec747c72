/** The bucket of scheduled copies, by the requests that R2 and every other S3 understand: one object each. */

import type { CopySettings } from "../../platform/config.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import { lazily } from "../../platform/lazily.ts";

const TIMEOUT_MS = 30_000;

const signing = lazily(() => import("aws4fetch"));

const ADDRESS = "check COPY_TO and COPY_REGION";
const REMEDIES: Readonly<Record<number, string>> = {
  200: ADDRESS,
  301: ADDRESS,
  307: ADDRESS,
  400: ADDRESS,
  401: "check COPY_ACCESS_KEY_ID and COPY_SECRET_ACCESS_KEY",
  403: "check COPY_ACCESS_KEY_ID, COPY_SECRET_ACCESS_KEY and COPY_REGION, and that the key may write to and delete from the bucket",
  404: "create the bucket that COPY_TO names",
};

/** Rejects with the status, the code of the error, and what to check. */
export interface Bucket {
  put(name: string, type: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Succeeds for an object that does not exist. */
  delete(name: string): Promise<void>;
}

export function openBucket({ url, region, accessKeyId, secretAccessKey }: CopySettings): Bucket {
  const request = async (
    method: string,
    name: string,
    type: string | null,
    body: Uint8Array<ArrayBuffer>,
  ) => {
    const { AwsClient } = await signing();
    const client = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", ...(region && { region }) });
    // The hash is signed, so the bucket refuses bytes that were damaged on their way.
    const headers = { "X-Amz-Content-Sha256": await sha256(body), ...(type && { "Content-Type": type }) };
    const signed = await client.sign(`${url}/${name}`, { method, headers, ...(type && { body }) });
    const response = await fetch(signed, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    if (method === "DELETE" && (response.ok || response.status === 404)) return;
    // Each S3 sends it for an object that it has stored, and a page of something else does not.
    if (response.ok && response.headers.has("ETag")) return;
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? "no code";
    const remedy = REMEDIES[response.status] ?? "it is tried again each minute";
    throw new Error(`The bucket answered ${response.status} (${code}) to ${method} ${name}: ${remedy}`);
  };
  return {
    put: (name, type, bytes) => request("PUT", name, type, bytes),
    delete: (name) => request("DELETE", name, null, new Uint8Array()),
  };
}
