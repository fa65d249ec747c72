/** Where webhooks may be sent: https to public names, and to what development names; never to this service itself. */

import ipaddr from "ipaddr.js";
import { hostOf } from "../platform/host.ts";

/** What the answer depends on besides the address. */
export interface TargetPolicy {
  /** Hosts for which http, any port, and addresses of any kind are allowed too; empty in production. */
  readonly devTargets: readonly string[];
  /** `host:port` under which this service was reached. */
  readonly ownHost: string;
}

const MAX_LENGTH = 2048;
const MAX_NAME_LENGTH = 253;
/** A part of a name, as resolvers take it; what is written in other scripts has become such a one. */
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
/** Besides the default one. */
const PORTS = new Set(["", "8443"]);
/** Names that no public resolver answers for, by standard (RFC 6761, 6762, 7686, 8375, 9476) or by custom. */
const INTERNAL_SUFFIXES = new Set([
  ...["alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion", "test"],
  ...["corp", "home", "intranet", "lan", "localdomain", "private"],
]);
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR("2000::/3");
/** A part of it that is set aside for protocols. */
const PROTOCOLS_V6 = ipaddr.IPv6.parseCIDR("2001::/23");
/** Azure's metadata service has a public address. */
const AZURE_METADATA = "168.63.129.16";

/**
 * True for an address that everybody can reach. What is not known to be public is not: an address of version 6
 * that wraps one of version 4 (mapped, 6to4, NAT64, Teredo) leads somewhere else than it seems.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === "unicast" && address !== AZURE_METADATA;
  return parsed.range() === "unicast" && parsed.match(GLOBAL_UNICAST_V6) && !parsed.match(PROTOCOLS_V6);
}

const isLoopback = (host: string): boolean =>
  host === "localhost" ||
  host.endsWith(".localhost") ||
  (ipaddr.isValid(host) && ["loopback", "unspecified"].includes(ipaddr.process(host).range()));

/** True when the address leads back to this service. On one machine it has many names, and its port tells. */
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
      : "must not lead to a private or reserved address";
  }
  const labels = host.split(".");
  const isName =
    labels.length > 1 && host.length <= MAX_NAME_LENGTH && labels.every((label) => LABEL.test(label));
  if (!isName) return "must name a public host";
  return INTERNAL_SUFFIXES.has(labels.at(-1) ?? "") ? "must not name an internal host" : null;
}

/**
 * Why deliveries may not go to this address, in words that continue its field's name; null when they may.
 * The address is read as `fetch` reads it, so no odd spelling passes for another host.
 */
export function findTargetProblem(address: string, { devTargets, ownHost }: TargetPolicy): string | null {
  const url = URL.parse(address);
  if (url === null || address.length > MAX_LENGTH) return "must be a URL of at most 2048 characters";
  const host = hostOf(url);
  const isDevTarget = devTargets.includes(host) && url.protocol === "http:";
  if (url.protocol !== "https:" && !isDevTarget) return "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must not hold a user name or a password";
  if (address.includes("#")) return "must not have a fragment";
  if (isOwn(url, ownHost)) return "must not lead back to this service";
  if (devTargets.includes(host)) return null;
  if (!PORTS.has(url.port)) return "must have port 443 or 8443";
  return findNameProblem(host);
}
