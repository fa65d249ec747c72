/** The URLs of the REST interface. */

/** Query parameters: undefined values are left out, and a list repeats its parameter. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The URL that all paths of an account are below. */
export const accountUrl = (serverUrl: string, accountId: string): string =>
  `${serverUrl.replace(/\/+$/, "")}/v1/accounts/${encodeURIComponent(accountId)}`;

/** The URL of a path, whose segments are not encoded yet. */
export function urlBelow(base: string, path: readonly string[], query: Query = {}): string {
  const url = new URL([base, ...path.map(encodeURIComponent)].join("/"));
  for (const [name, values] of Object.entries(query)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      if (value !== undefined) url.searchParams.append(name, String(value));
    }
  }
  return url.href;
}
