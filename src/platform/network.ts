/** The network of an address: what one client can be assumed to have for itself, and so what limits count. Pure. */
import ipaddr from "ipaddr.js";

/** The groups of an IPv6 address that name its /64: a provider gives each customer at least one such network. */
const NETWORK_GROUPS = 4;

/**
 * The /64 of an IPv6 address, else the IPv4 address, which may be written as a mapped IPv6 address. Text that is no
 * address stands for itself.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const groups = parsed.parts.slice(0, NETWORK_GROUPS).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}

/** Cloudflare's edge sets it; where there is none, `admit` does. No other forwarding header is ever read. */
export const CLIENT_ADDRESS_HEADER = "CF-Connecting-IP";

/** The caller's address as the edge reports it, never as the client claims. */
export const addressOf = (request: Request): string =>
  request.headers.get(CLIENT_ADDRESS_HEADER) ?? "unknown";

/** The client as limits count it: an address, or the whole network that one client may have. */
export const clientOf = (request: Request): string => networkOf(addressOf(request));

/** The bytes of an address that a log keeps: enough to tell places apart, too few to tell persons apart. */
const SHORT_GROUPS = 3;
const SHORT_OCTETS = 3;

/** An address as logs keep it: the /24 of an IPv4 address, the /48 of an IPv6 address; null for text that is no address. */
export function shortAddress(address: string): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return `${parsed.octets.slice(0, SHORT_OCTETS).join(".")}.0/24`;
  const groups = parsed.parts.slice(0, SHORT_GROUPS).map((group) => group.toString(16));
  return `${groups.join(":")}::/48`;
}
