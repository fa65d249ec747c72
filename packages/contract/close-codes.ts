/** Close codes of errors on sockets, defined once for the service and the SDK. Pure: the SDK bundles it. */

export const CLOSE_CODES = {
  BAD_REQUEST: 4400,
  VALIDATION_ERROR: 4400,
  UNAUTHORIZED: 4401,
  FORBIDDEN: 4403,
  NOT_FOUND: 4404,
  CONFLICT: 4409,
  GONE: 4410,
  RATE_LIMITED: 4429,
} as const;

/** Codes that describe an end and may not be sent: no code, no close, no TLS. */
export const UNSENDABLE_CODES: ReadonlySet<number> = new Set([1005, 1006, 1015]);
