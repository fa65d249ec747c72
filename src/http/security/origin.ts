/** Under which origin the service is reached: what its links begin with, and where its own pages come from. */
import { publicOrigin } from "../../platform/config/hosts.ts";
import type { Settings } from "../../platform/config/settings.ts";

/** `PUBLIC_ORIGIN`; without that setting the origin of the request, which the client's `Host` header decides. */
export const originOf = (request: Request, settings: Settings): string =>
  publicOrigin(settings) ?? new URL(request.url).origin;
