/** The network of an address, which one client can be assumed to have for itself; limits count by it. Pure. */
import ipaddr from "ipaddr.js";

/** The groups of an IPv6 address that name its /64: a provider gives each customer at least one such network. */
const NETWORK_GROUPS = 4;

/** The /64 of an IPv6 address, or the IPv4 address; other text stands for itself. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const groups = parsed.parts.slice(0, NETWORK_GROUPS).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}

/** Cloudflare's edge sets it; where there is none, `admit` does. No other forwarding header is ever read. */
export const CLIENT_ADDRESS_HEADER = "CF-Connecting-IP";

export const addressOf = (request: Request): string =>
  request.headers.get(CLIENT_ADDRESS_HEADER) ?? "unknown";

/** The client as limits count it: an address, or the whole network that one client may have. */
export const clientOf = (request: Request): string => networkOf(addressOf(request));

/** The bytes of an address that a log keeps: enough to tell places apart, too few to tell persons apart. */
const SHORT_GROUPS = 3;
const SHORT_OCTETS = 3;

/** The /24 or /48 of an address; null for other text. */
export function shortAddress(address: string): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return `${parsed.octets.slice(0, SHORT_OCTETS).join(".")}.0/24`;
  const groups = parsed.parts.slice(0, SHORT_GROUPS).map((group) => group.toString(16));
  return `${groups.join(":")}::/48`;
}

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

export interface TargetPolicy {
  readonly devTargets: readonly string[];
  readonly ownHosts: readonly string[];
}

/** `network` connects to public addresses only, because names resolve to any. Cloudflare's own `fetch` is like that. */
export const targetFetch =
  (network: { readonly fetch: typeof fetch } | undefined, devTargets: readonly string[]): typeof fetch =>
  (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    return network === undefined || devTargets.includes(hostOf(url))
      ? fetch(input, init)
      : network.fetch(input, init);
  };

const MAX_LENGTH = 2048;
const MAX_NAME_LENGTH = 253;
/** One label of a host name, as resolvers accept it; URL parsing has turned other scripts into this form. */
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const PORTS = new Set(["", "8443"]);
/** Top-level names that public resolvers do not serve, by standard (RFC 6761, 6762, 7686, 8375, 9476) or by custom. */
const INTERNAL_SUFFIXES = new Set([
  ...["alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion", "test"],
  ...["corp", "home", "intranet", "lan", "localdomain", "private"],
]);
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");
const PROTOCOLS_V6 = ipaddr.IPv6.parseCIDR("2001::/23");
/** Azure's metadata service has a public address. */
const AZURE_METADATA = "168.63.129.16";

/** IPv6 addresses that wrap IPv4 (mapped, 6to4, NAT64, Teredo) are not public: they lead elsewhere. */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === "unicast" && address !== AZURE_METADATA;
  return parsed.range() === "unicast" && parsed.match(GLOBAL_UNICAST_V6) && !parsed.match(PROTOCOLS_V6);
}

const isLoopback = (host: string): boolean =>
  host === "localhost" ||
  host.endsWith(".localhost") ||
  (ipaddr.isValid(host) && ["loopback", "unspecified"].includes(ipaddr.process(host).range()));

/** True when the URL leads back to this service. A local service has many names, so its port decides. */
function isOwn(url: URL, ownHost: string): boolean {
  const own = URL.parse(`${url.protocol}//${ownHost}`);
  if (own === null) return false;
  if (isLoopback(hostOf(own))) return isLoopback(hostOf(url)) && own.port === url.port;
  return hostOf(own) === hostOf(url);
}

function findNameProblem(host: string): string | null {
  if (ipaddr.isValid(host)) {
    return isPublicAddress(host)
      ? "must name a host instead of an IP address"
      : "must not be a private or reserved address";
  }
  const labels = host.split(".");
  const isName =
    labels.length > 1 && host.length <= MAX_NAME_LENGTH && labels.every((label) => LABEL.test(label));
  if (!isName) return "must name a public host";
  return INTERNAL_SUFFIXES.has(labels.at(-1) ?? "") ? "must not name an internal host" : null;
}

/** A problem that continues the field's name, or null. Parsed as `fetch` parses, so that no spelling deceives. */
export function findTargetProblem(address: string, { devTargets, ownHosts }: TargetPolicy): string | null {
  const url = URL.parse(address);
  if (url === null || address.length > MAX_LENGTH) return "must be a URL of at most 2048 characters";
  const host = hostOf(url);
  const isDevTarget = devTargets.includes(host) && url.protocol === "http:";
  if (url.protocol !== "https:" && !isDevTarget) return "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (address.includes("#")) return "must not have a fragment";
  if (ownHosts.some((ownHost) => isOwn(url, ownHost))) return "must not lead back to this service";
  if (devTargets.includes(host)) return null;
  if (!PORTS.has(url.port)) return "must use port 443 or 8443";
  return findNameProblem(host);
}
