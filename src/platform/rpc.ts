/** What calls between Workers and objects of different versions of the service have to reckon with. */

/** True for the error of a call whose method the object does not have: it still runs the version before, for some minutes at most. */
export const isUnknownMethod = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("RPC receiver does not implement");
