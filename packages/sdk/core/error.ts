/** The one error class of the SDK, for errors from the service and from the client itself. */
import { CLOSE_CODES } from "@atrium/contract/close-codes.ts";

/** Why a request was refused or failed: the service's codes, then the client's own. */
export type AtriumErrorCode =
  /** The input is invalid; the message names the field. */
  | "BAD_REQUEST"
  | "VALIDATION_ERROR"
  /** The token is missing, invalid, expired or ended. */
  | "UNAUTHORIZED"
  /** The user, or the API key, may not do this. */
  | "FORBIDDEN"
  | "NOT_FOUND"
  /** The thing exists already, or has changed meanwhile. */
  | "CONFLICT"
  /** The events behind a cursor are no longer kept. */
  | "GONE"
  /** The body is compressed or otherwise encoded. */
  | "UNSUPPORTED_MEDIA_TYPE"
  /** Too many requests; retryable. */
  | "RATE_LIMITED"
  /** The service failed, and has changed nothing; retryable. */
  | "INTERNAL_ERROR"
  /** An HTTP request got no response from the service; retryable. */
  | "UNREACHABLE"
  /** No WebSocket could be opened; retryable. */
  | "CONNECTION_FAILED"
  /** The connection ended before the response arrived; retryable. */
  | "DISCONNECTED"
  /** `flush()` or `leave()` waited as long as it should, or a broadcast could not be sent in time; retryable. */
  | "TIMEOUT"
  /** The client has left the room: the request needs `join()`. */
  | "NOT_JOINED"
  /** A webhook message is not from the service, or is too old. */
  | "INVALID_SIGNATURE"
  /** The device keeps no further writes; the client goes on in memory. */
  | "STORAGE_FAILED"
  /** A kept write may have been carried out, too long ago to ask. */
  | "OUTCOME_UNKNOWN";

/** A request was refused or failed, for the reason that `code` states. All entries of the package share this class. */
export class AtriumError extends Error {
  /** A code that only a later version of the service has is passed on as it is. */
  readonly code: AtriumErrorCode;
  /** The part of the service that refused the request, such as `Rooms`; `Client` for the client itself. */
  readonly module: string;
  /** The id of the request, which the service's logs contain too. */
  readonly requestId: string | undefined;
  /** Whether the same request can succeed later, without a change. */
  readonly retryable: boolean;

  /** The cause of a fault that is an error already is kept. */
  constructor(fault: Fault, requestId?: string, options: ErrorOptions = fault) {
    super(fault.message, options);
    this.name = "AtriumError";
    this.code = assumeCode(fault.code);
    this.module = fault.module;
    this.requestId = requestId;
    this.retryable = isRetryable(fault.code);
  }
}

function assumeCode(code: string): AtriumErrorCode {
  return code as AtriumErrorCode;
}

export interface Fault {
  readonly code: string;
  readonly module: string;
  readonly message: string;
  /** The error that the client's own code or the platform threw. */
  readonly cause?: unknown;
}

/** An error of the client itself. */
export const clientFault = (code: AtriumErrorCode, message: string): Fault => ({
  code,
  module: "Client",
  message,
});

/** Input that the client refuses before it sends anything. */
export const invalid = (module: string, message: string): AtriumError =>
  new AtriumError({ code: "VALIDATION_ERROR", module, message });

/** A name without lone surrogates, which would be another one on its way. Throws VALIDATION_ERROR. */
export function wellFormed(name: string, unfit = /\p{Surrogate}/u): string {
  if (unfit.test(name)) throw invalid("Client", `${JSON.stringify(name)} cannot be a name`);
  return name;
}

const RETRYABLE_CODES: readonly string[] = [
  "RATE_LIMITED",
  "INTERNAL_ERROR",
  "UNREACHABLE",
  "CONNECTION_FAILED",
  "DISCONNECTED",
  "TIMEOUT",
] satisfies AtriumErrorCode[];

export const isRetryable = (code: string): boolean => RETRYABLE_CODES.includes(code);

/** The error code that a WebSocket close code of the service stands for; undefined for any other close code. */
export const codeOfClose = (close: number): string | undefined =>
  Object.entries(CLOSE_CODES).find(([, known]) => known === close)?.[0];

/** The error of a fault, which may be one already. */
export const errorOf = (fault: Fault, requestId?: string): AtriumError =>
  fault instanceof AtriumError ? fault : new AtriumError(fault, requestId);
