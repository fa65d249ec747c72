/** Addresses of the service, and their parts. */
import { invalid, wellFormed } from "./error.ts";

/**
 * The address of the service behind `http` or `ws`, without a slash or `/v1` at its end. Throws VALIDATION_ERROR unless it is
 * the URL of one of them, without user, query and fragment.
 */
export function serviceAddress(serverUrl: string): string {
  try {
    const [, address] = /^(?:http|ws)(s?:\/\/[^?#@]+?)(?:\/+v1)?\/*$/.exec(new URL(serverUrl).href) ?? [];
    if (address) return address;
  } catch {}
  throw invalid("Client", "serverUrl must be an http or https URL");
}

/** A segment of a path. Throws VALIDATION_ERROR for one that no path has: empty, dots, or half of a character. */
export const segmentOf = (name: string): string =>
  encodeURIComponent(wellFormed(name ?? "", /^\.{0,2}$|\p{Surrogate}/u));
