/**
 * A stand-in for a dispatch namespace of Workers for Platforms: Cloudflare's API for its scripts over HTTP, and the
 * binding that calls them. True to what wrangler asks of the real one; what it does not know it refuses by name.
 */
import { answerApi } from "./api.ts";
import type { NamespaceEnv } from "./env.ts";

export { Dispatcher } from "./dispatcher.ts";

export default {
  fetch: (request, env) => answerApi(request, env),
} satisfies ExportedHandler<NamespaceEnv>;
