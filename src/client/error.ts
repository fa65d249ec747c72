/** The one error that the SDK throws. */

/** A request that was refused, or that could not be made. */
export class AtriumError extends Error {
  override readonly name = "AtriumError";
  /** A code of the service, such as `NOT_FOUND`, or one of the SDK's own: `DISCONNECTED`, `TIMEOUT`. */
  readonly code: string;
  /** The part of the service, or of the SDK, that refused. */
  readonly module: string;
  /** By which whoever runs the service finds the request in its logs; null where none was made. */
  readonly requestId: string | null;

  constructor(fault: {
    readonly code: string;
    readonly module: string;
    readonly message: string;
    readonly requestId?: string | null;
  }) {
    super(fault.message);
    this.code = fault.code;
    this.module = fault.module;
    this.requestId = fault.requestId ?? null;
  }
}
