/** The failure of a body that broke off. */

import { AppError, type Module } from "@atrium/contract/errors.ts";

/** The client left before its body ended; nothing of the service failed. */
export class ClientLeftError extends AppError {
  constructor(module: Module, cause: unknown) {
    super(module, "BAD_REQUEST", "The request broke off before its end; send it again");
    this.cause = cause;
  }
}
