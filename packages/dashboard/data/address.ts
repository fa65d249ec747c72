/** Names, filters and orders in the address of a page. Pure. */

/** Characters that `decodeURI`, which the router uses, leaves encoded or would take for the start of a code. */
const RESERVED = /[%;/?:@&=+$,#]/g;

/** A name that a customer chose, as one part of a path. */
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

/** The parameters with some of them set, or removed where the value is empty. */
export function withParameters(
  parameters: URLSearchParams,
  changes: Readonly<Record<string, string>>,
): URLSearchParams {
  const changed = new URLSearchParams(parameters);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") changed.delete(name);
    else changed.set(name, value);
  }
  return changed;
}
