/** Names that customers choose, as a part of a page's address: the router decodes it, except for reserved characters. */

/** What `decodeURI`, which the router uses, leaves encoded or would take for the start of a code. */
const RESERVED = /[%;/?:@&=+$,#]/g;

/** The name as one part of a path. */
export const pathPartOf = (name: string): string =>
  encodeURIComponent(name.replace(RESERVED, encodeURIComponent));

/** The name in a parameter of the router; the parameter itself if no page has made the address. */
export function nameInPath(parameter: string): string {
  try {
    return decodeURIComponent(parameter);
  } catch {
    return parameter;
  }
}
