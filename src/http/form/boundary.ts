/** The boundary between the parts of a form. */
import { parse } from "content-disposition";

export const MAX_BOUNDARY_LENGTH = 70;
const BOUNDARY = new RegExp(`^[ !#-\\[\\]-~]{1,${MAX_BOUNDARY_LENGTH}}$`);

/** The boundary in a Content-Type; null when it is not that of a form. */
export function boundaryOf(contentType: string): string | null {
  const { type, parameters } = parse(contentType); // its grammar is that of Content-Disposition
  const { boundary = "" } = parameters;
  return type === "multipart/form-data" && BOUNDARY.test(boundary) ? boundary : null;
}
