/** Host names in one spelling, so that they can be compared. */

/** The URL's host without a name's trailing dot or an address's brackets; empty for null. */
export const hostOf = (url: URL | null): string =>
  (url?.hostname ?? "").replace(/\.$/, "").replace(/^\[|\]$/g, "");

/** The hosts in a comma-separated list, spelt as {@link hostOf} spells them. */
export const parseHosts = (setting: string): readonly string[] =>
  setting
    .split(",")
    .map((host) => host.trim())
    .filter((host) => host !== "")
    .map((host) => hostOf(URL.parse(`http://${/^[^[].*:/.test(host) ? `[${host}]` : host}`)));
