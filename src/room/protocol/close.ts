/** Why the server closes a socket, and which close codes mean that the connection broke. */
import { ERROR_CODES, type ErrorCode } from "../../platform/error-codes.ts";

/** Why the server closes a socket. After an error, the close code is the one defined for its error code. */
export const CLOSE = {
  left: 1000,
  silent: 1001,
  failed: ERROR_CODES.INTERNAL_ERROR.close,
  protocolBroken: ERROR_CODES.BAD_REQUEST.close,
  unauthorized: ERROR_CODES.UNAUTHORIZED.close,
  forbidden: ERROR_CODES.FORBIDDEN.close,
  roomDeleted: ERROR_CODES.NOT_FOUND.close,
  joinTimeout: 4408,
  tooManySockets: ERROR_CODES.CONFLICT.close,
  frameTooLarge: 4413,
  readerTooSlow: 4413,
  flooding: ERROR_CODES.RATE_LIMITED.close,
} as const;
export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE] | (typeof ERROR_CODES)[ErrorCode]["close"];

/** With this code a client closes a socket that it is about to replace: its user has not left. */
const RECONNECTING = 4000;

/** The codes of a broken connection, as the runtime or a proxy reports it, and of a client that replaces its socket. */
const BROKEN: ReadonlySet<number> = new Set([1006, 1011, 1012, 1013, 1014, 1015, RECONNECTING]);

/** Whether a socket that ended with this code was not closed for good. */
export const isBroken = (code: number): boolean => BROKEN.has(code);
