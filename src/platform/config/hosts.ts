/** Under which hosts the service answers, and which hosts its requests may reach. */
import { readSetting, type Settings } from "./settings.ts";

export const publicOrigin = (env: Settings): string | undefined => readSetting(env, "PUBLIC_ORIGIN");

/** The hosts that lead to this service, as far as the settings tell. */
export const ownHosts = (env: Settings): readonly string[] => {
  const origin = publicOrigin(env);
  return [...readSetting(env, "OWN_HOSTS"), ...(origin === undefined ? [] : [new URL(origin).host])];
};

export const allowedHosts = (env: Settings): readonly string[] => readSetting(env, "ALLOWED_HOSTS");

/** The address that stands for every client; undefined where the platform reports each one's. */
export const clientAddress = (env: Settings): string | undefined => readSetting(env, "CLIENT_ADDRESS");

/** The hosts that webhooks may also reach in development. */
export const webhookDevTargets = (env: Settings): readonly string[] =>
  readSetting(env, "WEBHOOK_DEV_TARGETS");

export const workflowDevTargets = (env: Settings): readonly string[] =>
  readSetting(env, "WORKFLOW_DEV_TARGETS");
