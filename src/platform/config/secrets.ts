/** The secrets of a deployment: what signs tokens, and what opens its metrics. */
import { readSetting, type Settings } from "./settings.ts";

export type JwtSecrets = readonly [current: string, ...previous: string[]];

export function jwtSecrets(env: Settings): JwtSecrets {
  const previous = readSetting(env, "JWT_SECRET_PREVIOUS");
  return [readSetting(env, "JWT_SECRET"), ...(previous === undefined ? [] : [previous])];
}

export const metricsToken = (env: Settings): string | undefined => readSetting(env, "METRICS_TOKEN");
