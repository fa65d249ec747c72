/** Host names in a normal form, so that they can be compared. */

/** The URL's host, without the trailing dot of a name or the brackets of an address; empty for null. */
export const hostOf = (url: URL | null): string =>
  (url?.hostname ?? "").replace(/\.$/, "").replace(/^\[|\]$/g, "");

/** The hosts in a comma-separated list, in the form of {@link hostOf}. */
export const parseHosts = (setting: string): readonly string[] =>
  setting
    .split(",")
    .map((host) => host.trim())
    .filter((host) => host !== "")
    .map((host) => hostOf(URL.parse(`http://${/^[^[].*:/.test(host) ? `[${host}]` : host}`)));
