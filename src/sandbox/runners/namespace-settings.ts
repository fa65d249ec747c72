/** The settings of the dispatch namespace that keeps customers' scripts in production. */
import { AppError } from "../../platform/errors.ts";

/** As wrangler.toml and `wrangler secret put` set them. */
export interface NamespaceVariables {
  readonly WORKFLOWS_CF_ACCOUNT_ID?: string;
  readonly WORKFLOWS_NAMESPACE?: string;
  readonly WORKFLOWS_API_TOKEN?: string;
  readonly WORKFLOWS_API_URL?: string;
}

export interface NamespaceSettings {
  readonly accountId: string;
  readonly namespace: string;
  /** A secret: it may write the account's scripts. */
  readonly token: string;
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

const DEFAULT_API_URL = "https://api.cloudflare.com/client/v4";
/** How to provide each setting. */
const REMEDIES = {
  WORKFLOWS_CF_ACCOUNT_ID:
    "`npx wrangler whoami` shows the account's ID, which goes into [env.production.vars] of wrangler.toml",
  WORKFLOWS_NAMESPACE:
    "`npx wrangler dispatch-namespace create atrium-workflows` makes one, and its name goes into [env.production.vars] of wrangler.toml",
  WORKFLOWS_API_TOKEN:
    'make a token with the permission "Workers Scripts Write", and run `npx wrangler secret put WORKFLOWS_API_TOKEN --env production`',
} as const;

/** The settings of this deployment. Throws INTERNAL_ERROR that names the first missing one and how to provide it. */
export function namespaceSettings(env: NamespaceVariables): NamespaceSettings {
  const get = (name: keyof typeof REMEDIES): string => {
    const value = env[name]?.trim();
    if (value) return value;
    throw new AppError("Server", "INTERNAL_ERROR", `${name} is not set: ${REMEDIES[name]}`);
  };
  return {
    accountId: get("WORKFLOWS_CF_ACCOUNT_ID"),
    namespace: get("WORKFLOWS_NAMESPACE"),
    token: get("WORKFLOWS_API_TOKEN"),
    apiUrl: (env.WORKFLOWS_API_URL?.trim() || DEFAULT_API_URL).replace(/\/+$/, ""),
  };
}
