/** The one error class of the SDK, for errors from the service and from the client itself. */
import { CLOSE_CODES } from "../../platform/close-codes.ts";

/**
 * A request was refused or failed. `code` is one of the service's codes (`BAD_REQUEST`, `VALIDATION_ERROR`,
 * `UNAUTHORIZED`, `FORBIDDEN`, `NOT_FOUND`, `CONFLICT`, `RATE_LIMITED`, `INTERNAL_ERROR`) or one of the client's own:
 * - `UNREACHABLE`: an HTTP request got no response from the service.
 * - `CONNECTION_FAILED`: no WebSocket could be opened.
 * - `DISCONNECTED`: the connection ended before the response arrived.
 * - `TIMEOUT`: `flush()` or `leave()` waited as long as it should.
 * - `NOT_JOINED`: the request needs `join()` first.
 * - `INVALID_SIGNATURE`: a webhook message is not from the service, or is too old.
 */
export class AtriumError extends Error {
  readonly code: string;
  /** The part of the service that refused the request, such as `Rooms`; `Client` for the client itself. */
  readonly module: string;
  /** The id of the request, which the service's logs contain too. */
  readonly requestId: string | undefined;
  /** Whether the same request can succeed later, without a change. */
  readonly retryable: boolean;

  constructor(fault: Fault, requestId?: string) {
    super(fault.message);
    this.name = "AtriumError";
    this.code = fault.code;
    this.module = fault.module;
    this.requestId = requestId;
    this.retryable = isRetryable(fault.code);
  }
}

/** An error as the service sends it. */
export interface Fault {
  readonly code: string;
  readonly module: string;
  readonly message: string;
}

/** The error for input that the client refuses before it sends anything. */
export const invalid = (module: string, message: string): AtriumError =>
  new AtriumError({ code: "VALIDATION_ERROR", module, message });

/** The service's, then the client's own. */
const RETRYABLE_CODES = [
  "RATE_LIMITED",
  "INTERNAL_ERROR",
  "UNREACHABLE",
  "CONNECTION_FAILED",
  "DISCONNECTED",
];

/** Whether the same request can succeed later. */
export const isRetryable = (code: string): boolean => RETRYABLE_CODES.includes(code);

/** The error code that a WebSocket close code of the service stands for; undefined for any other close code. */
export const codeOfClose = (close: number): string | undefined =>
  Object.entries(CLOSE_CODES).find(([, known]) => known === close)?.[0];
