/**
 * A stand-in for a dispatch namespace of Workers for Platforms: Cloudflare's API for its scripts over HTTP, and the
 * binding that calls them. It knows the calls of the service and of `wrangler deploy`, and refuses all others.
 */
import { answerApi } from "./api.ts";
import type { NamespaceEnv } from "./scripts.ts";

export { Dispatcher } from "./dispatcher.ts";

export default {
  fetch: (request, env) => answerApi(request, env),
} satisfies ExportedHandler<NamespaceEnv>;
