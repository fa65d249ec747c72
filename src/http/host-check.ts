/** What Cloudflare's edge does before the Worker in production, for a service that has no edge: `npm start`. */

import type { Env } from "../env.ts";
import { allowedHosts, clientAddress } from "../platform/config/hosts.ts";
import { AppError } from "../platform/errors.ts";
import { hostOf } from "../platform/host.ts";
import { CLIENT_ADDRESS_HEADER } from "../platform/network.ts";

const ANY_HOST = "*";

/**
 * The request as the Worker may trust it. FORBIDDEN under a name that is not among `ALLOWED_HOSTS`: a page of another
 * site whose name is made to lead to this machine (DNS rebinding) would otherwise be a page of this service.
 */
export function admit(request: Request, env: Env): Request {
  const hosts = allowedHosts(env);
  if (hosts.length > 0 && !hosts.includes(ANY_HOST)) {
    // Both, because what stands before the Worker may have taken the URL from another header.
    const names = [new URL(request.url), URL.parse(`http://${request.headers.get("Host") ?? ""}`)];
    const foreign = names.find((name) => !hosts.includes(hostOf(name)));
    if (foreign !== undefined) {
      throw new AppError(
        "Server",
        "FORBIDDEN",
        `This service is not ${hostOf(foreign) || "reached without a Host header"}; add that name to ALLOWED_HOSTS if it should be`,
      );
    }
  }
  const address = clientAddress(env);
  if (address === undefined) return request;
  const headers = new Headers(request.headers);
  headers.set(CLIENT_ADDRESS_HEADER, address);
  return new Request(request, { headers });
}
