/** Shared by the operations of backups and restores: the operator's request, its body, and its answer. */

import { AppError } from "@atrium/contract/errors.ts";
import * as z from "zod";
import type { Env } from "../../env.ts";
import { insertAuditEntry } from "../../http/audit/store.ts";
import { success } from "../../http/envelope.ts";
import { checkBody, parseJson, readBody } from "../../http/request-input.ts";
import { hex, sha256 } from "../../platform/crypto/encoding.ts";
import { hkdf, hkdfMaterial } from "../../platform/crypto/sealer.ts";
import type { Statement } from "../../platform/d1/d1.ts";
import { ARCHIVE_FORMAT, type DeploymentManifest, HEADERS, type Manifest, SCHEMA } from "./format.ts";

export interface OperatorCall {
  readonly request: Request;
  readonly env: Env;
  readonly accountId: string;
  readonly signatures: Signatures;
  readonly requestId: string;
  /** Epoch milliseconds. */
  now(): number;
  log(message: string, error: unknown): void;
}

export type Operation = (call: OperatorCall) => Promise<Response>;

/** A slice has at most a few rows of 2 MB each, or some MiB of an object. */
const MAX_SLICE_BYTES = 24 * 1024 * 1024;

export const refuse = (
  code: "BAD_REQUEST" | "VALIDATION_ERROR" | "NOT_FOUND" | "CONFLICT",
  message: string,
) => new AppError("Server", code, message);

export function parameterOf({ request }: OperatorCall, name: string): string {
  const value = new URL(request.url).searchParams.get(name);
  if (value === null) throw refuse("BAD_REQUEST", `${name} is required in the query`);
  return value;
}

const bytesOf = async ({ request }: OperatorCall): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await readBody(request, "Server", MAX_SLICE_BYTES));

export async function bodyOf<T>(call: OperatorCall, schema: z.ZodType<T>): Promise<T> {
  const type = call.request.headers.get("Content-Type");
  return checkBody(schema, parseJson(await bytesOf(call), type, "Server"), "Server");
}

export const answer = ({ requestId }: OperatorCall, data: object): Response =>
  success(200, "Done", data, requestId);

/** The place of signed bytes: format, organization, backup and part. */
const placeOf = ({ accountId }: OperatorCall, backupId: string, part: string): readonly string[] => [
  `format ${ARCHIVE_FORMAT}`,
  accountId,
  backupId,
  part,
];

export async function answerSigned(
  call: OperatorCall,
  backupId: string,
  part: string,
  bytes: Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return new Response(bytes, {
    headers: {
      "Content-Type": "application/octet-stream",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": call.requestId,
      [HEADERS.signature]: await call.signatures.sign(placeOf(call, backupId, part), bytes),
      ...headers,
    },
  });
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(encoder.encode(text));

export const answerSlice = (call: OperatorCall, backupId: string, part: string, slice: object) =>
  answerSigned(call, backupId, part, encode(JSON.stringify(slice)));

type Stamp = "format" | "schema" | "finishedAt";

/** Signs the manifest, which makes the backup whole. */
export function answerManifest(
  call: OperatorCall,
  finished: Omit<Manifest, Stamp> | Omit<DeploymentManifest, Stamp>,
): Promise<Response> {
  const finishedAt = new Date(call.now()).toISOString();
  const manifest = { format: ARCHIVE_FORMAT, schema: SCHEMA, ...finished, finishedAt };
  return answerSigned(call, finished.backupId, "manifest", encode(JSON.stringify(manifest, null, 2)));
}

const NOT_GENUINE =
  "was not written by this service, or not for this organization and place, or has been changed. If the service " +
  "has another JWT_SECRET since the backup, set the former one as JWT_SECRET_PREVIOUS, deploy, and run the command again";

/** The bytes of a request, which must have been signed by this service as this part of this backup. */
export async function genuineBytes(
  call: OperatorCall,
  backupId: string,
  part: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await bytesOf(call);
  const signature = call.request.headers.get(HEADERS.signature) ?? "";
  if (await call.signatures.isGenuine(signature, placeOf(call, backupId, part), bytes)) return bytes;
  throw refuse("VALIDATION_ERROR", `${part}: this part of the backup ${NOT_GENUINE}`);
}

export async function genuineSlice<T>(
  call: OperatorCall,
  backupId: string,
  part: string,
  schema: z.ZodType<T>,
): Promise<T> {
  const text = new TextDecoder().decode(await genuineBytes(call, backupId, part));
  return checkBody(schema, JSON.parse(text) as unknown, "Server");
}

export const BackupId = z.object({ backupId: z.uuid() });

export const operatorEntry = (
  { accountId, now, requestId }: OperatorCall,
  operation: "backUpOrganization" | "restoreOrganization",
  changes: Readonly<Record<string, string>>,
): Statement =>
  insertAuditEntry(
    accountId,
    {
      id: crypto.randomUUID(),
      at: now(),
      actorType: "operator",
      actorId: null,
      actorName: null,
      operation,
      resource: "organization",
      resourceId: accountId,
      changes: JSON.stringify(changes),
      address: null,
      requestId,
    },
    false,
  );

const SIGNATURE = /^[0-9a-f]{64}$/;
const encoder = new TextEncoder();

const keys = new Map<string, Promise<CryptoKey>>();

async function deriveKey(secret: string): Promise<CryptoKey> {
  const hmac = { name: "HMAC", hash: "SHA-256", length: 256 };
  const info = hkdf("backups of organizations");
  return crypto.subtle.deriveKey(info, await hkdfMaterial(secret), hmac, false, ["sign", "verify"]);
}

function keyOf(secret: string): Promise<CryptoKey> {
  const key = keys.get(secret) ?? deriveKey(secret);
  keys.set(secret, key);
  return key;
}

type Signatures = ReturnType<typeof signaturesOf>;

async function signedText(place: readonly string[], bytes: Uint8Array<ArrayBuffer>) {
  return encode(`${JSON.stringify(place)}\n${await sha256(bytes)}`);
}

/** Signs with the first secret, and accepts the signatures of all. */
export const signaturesOf = (secrets: readonly [string, ...string[]]) => ({
  /** `place` says which part of which backup the bytes are. */
  async sign(place: readonly string[], bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const signed = await crypto.subtle.sign("HMAC", await keyOf(secrets[0]), await signedText(place, bytes));
    return hex(new Uint8Array(signed));
  },
  async isGenuine(
    signature: string,
    place: readonly string[],
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<boolean> {
    if (!SIGNATURE.test(signature)) return false;
    const text = await signedText(place, bytes);
    const given = Buffer.from(signature, "hex");
    for (const secret of secrets)
      if (await crypto.subtle.verify("HMAC", await keyOf(secret), given, text)) return true;
    return false;
  },
});
