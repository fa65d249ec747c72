/** What goes wrong for a user of the client: one class, whether the service or the client itself says no. */

/**
 * A refusal or a failure. `code` is one of the service's (`BAD_REQUEST`, `VALIDATION_ERROR`, `UNAUTHORIZED`,
 * `FORBIDDEN`, `NOT_FOUND`, `CONFLICT`, `RATE_LIMITED`, `INTERNAL_ERROR`) or of the client's own:
 * `UNREACHABLE` (a request over HTTP came to nothing), `CONNECTION_FAILED` (no socket could be opened),
 * `DISCONNECTED` (it ended before the answer came), `NOT_JOINED` (nothing can be asked without `join()`) and
 * `INVALID_SIGNATURE` (a message to a webhook is not the service's, or an old one).
 */
export class AtriumError extends Error {
  readonly code: string;
  /** The part of the service, or of the client, that says so. */
  readonly module: string;
  /** Of the request that it answers, to be found in logs. */
  readonly requestId: string | undefined;

  constructor(fault: Fault, requestId?: string) {
    super(fault.message);
    this.name = "AtriumError";
    this.code = fault.code;
    this.module = fault.module;
    this.requestId = requestId;
  }
}

/** What is wrong, as the service tells it. */
export interface Fault {
  readonly code: string;
  readonly module: string;
  readonly message: string;
}

/** Something was refused before it was sent. */
export const invalid = (module: string, message: string): AtriumError =>
  new AtriumError({ code: "VALIDATION_ERROR", module, message });
