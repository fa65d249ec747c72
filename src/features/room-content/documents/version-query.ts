/** The parameter by which a version of a document is read. */
import { wholeNumber } from "./whole-number.ts";

export const version = wholeNumber.optional().meta({
  description: "The number of a version, to read that instead of the document as it is.",
  override: { type: "integer", minimum: 1 },
});
