/** What the operations of backups and restores have in common: a request that is the operator's, its body, and its answer. */
import * as z from "zod";
import type { Env } from "../../env.ts";
import { success } from "../../http/envelope.ts";
import { parseJson, readBody } from "../../http/json-body.ts";
import { checkBody } from "../../http/validate.ts";
import { AppError } from "../../platform/errors.ts";
import { ARCHIVE_FORMAT, SIGNATURE_HEADER } from "./format.ts";
import type { Signatures } from "./signatures.ts";

/** A request with the operator's token. */
export interface OperatorCall {
  readonly request: Request;
  readonly env: Env;
  /** Of an organization, or `DEPLOYMENT`. */
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

/** A parameter of the query. */
export function parameterOf({ request }: OperatorCall, name: string): string {
  const value = new URL(request.url).searchParams.get(name);
  if (value === null) throw refuse("BAD_REQUEST", `${name} is required in the query`);
  return value;
}

/** The bytes of a request. */
const bytesOf = async ({ request }: OperatorCall): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await readBody(request, "Server", MAX_SLICE_BYTES));

/** The parsed body of a request that is no slice. */
export async function bodyOf<T>(call: OperatorCall, schema: z.ZodType<T>): Promise<T> {
  const type = call.request.headers.get("Content-Type");
  return checkBody(schema, parseJson(await bytesOf(call), type, "Server"), "Server");
}

export const answer = ({ requestId }: OperatorCall, data: object): Response =>
  success(200, "Done", data, requestId);

/** Which part of which backup signed bytes are. */
const placeOf = ({ accountId }: OperatorCall, backupId: string, part: string): readonly string[] => [
  `format ${ARCHIVE_FORMAT}`,
  accountId,
  backupId,
  part,
];

/** Answers with bytes as the backup keeps them: signed. */
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
      [SIGNATURE_HEADER]: await call.signatures.sign(placeOf(call, backupId, part), bytes),
      ...headers,
    },
  });
}

/** UTF-8. */
export const encode = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(new TextEncoder().encode(text));

export const answerSlice = (call: OperatorCall, backupId: string, part: string, slice: object) =>
  answerSigned(call, backupId, part, encode(JSON.stringify(slice)));

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
  const signature = call.request.headers.get(SIGNATURE_HEADER) ?? "";
  if (await call.signatures.isGenuine(signature, placeOf(call, backupId, part), bytes)) return bytes;
  throw refuse("VALIDATION_ERROR", `${part}: this part of the backup ${NOT_GENUINE}`);
}

/** JSON that this service has signed. */
export async function genuineSlice<T>(
  call: OperatorCall,
  backupId: string,
  part: string,
  schema: z.ZodType<T>,
): Promise<T> {
  const text = new TextDecoder().decode(await genuineBytes(call, backupId, part));
  return checkBody(schema, JSON.parse(text) as unknown, "Server");
}

/** A backup's own ID, which the first command that continues it chooses. */
export const BackupId = z.object({ backupId: z.uuid() });
