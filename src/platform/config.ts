/** Settings that belong together or have another unit, as the service uses them. */

import { AppError } from "@atrium/contract/errors.ts";
import { LIMITS } from "@atrium/contract/limits.ts";
import { eachQuota, type QuotaDefaults, settingOf } from "@atrium/contract/resources/quota.ts";
import type { SignUpPolicy } from "@atrium/contract/rest/people.ts";
import { DAY_MS } from "@atrium/contract/time.ts";
import { hostOf } from "./network.ts";
import { readSetting, type Settings } from "./settings.ts";

export const quotaDefaults = (env: Settings): QuotaDefaults =>
  eachQuota((quota) => readSetting(env, settingOf(quota)));

export const hasRequestQuota = (env: Settings): boolean => readSetting(env, "REQUEST_QUOTA") !== "off";

/** The limits of each room that has none of its own. */
export const roomLimits = (env: Settings) => ({
  /** The most bytes of keys and JSON in all stores. */
  storeBytes: readSetting(env, "ROOM_STORES_MIB") * 1024 * 1024,
  /** The most bytes of all comments. */
  commentBytes: LIMITS.roomCommentBytes,
  /** The most notifications that the mentions of one user cause in an hour. */
  notificationsPerHour: {
    ofUser: readSetting(env, "NOTIFICATIONS_PER_HOUR"),
    ofGuest: readSetting(env, "GUEST_NOTIFICATIONS_PER_HOUR"),
  },
});
export type RoomLimits = ReturnType<typeof roomLimits>;

/** Retention of edit history and unnamed versions, in milliseconds. */
export const documentTrailKeptMs = (env: Settings): number =>
  readSetting(env, "DOCUMENT_TRAIL_DAYS") * DAY_MS;

export const backlogLimits = (env: Settings) => ({
  maxBytes: readSetting(env, "BACKLOG_MIB") * 1024 * 1024,
  maxAgeMs: readSetting(env, "BACKLOG_DAYS") * DAY_MS,
});

export const eventLogLimits = (env: Settings) => ({
  keptMs: readSetting(env, "EVENT_LOG_DAYS") * DAY_MS,
  maxBytes: readSetting(env, "EVENT_LOG_MIB") * 1024 * 1024,
});

/** Whether API requests are logged; on by default. */
export const hasRequestLog = (env: Settings): boolean => readSetting(env, "REQUEST_LOG") !== "off";

/** Retention of the request log, in milliseconds. */
export const requestLogKeptMs = (env: Settings): number => readSetting(env, "REQUEST_LOG_DAYS") * DAY_MS;

export const auditLogKeptMs = (env: Settings): number => readSetting(env, "AUDIT_LOG_DAYS") * DAY_MS;

export interface CopySettings {
  /** The address that the names of objects are appended to, without a trailing slash. */
  readonly url: string;
  /** Undefined when the address names it. */
  readonly region: string | undefined;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The bucket of scheduled copies. Throws an INTERNAL_ERROR when a setting is missing. */
export function copySettings(env: Settings): CopySettings {
  const url = readSetting(env, "COPY_TO");
  const accessKeyId = readSetting(env, "COPY_ACCESS_KEY_ID");
  const secretAccessKey = readSetting(env, "COPY_SECRET_ACCESS_KEY");
  if (url !== undefined && accessKeyId !== undefined && secretAccessKey !== undefined)
    return { url, region: readSetting(env, "COPY_REGION"), accessKeyId, secretAccessKey };
  const problem = "The setting COPY_TO needs COPY_ACCESS_KEY_ID and COPY_SECRET_ACCESS_KEY; set all three";
  throw new AppError("Server", "INTERNAL_ERROR", problem);
}

/** Retention of scheduled copies, in milliseconds. */
export const copiesKeptMs = (env: Settings): number => readSetting(env, "COPY_DAYS") * DAY_MS;

/** The hosts that lead to this service, as far as the settings tell. */
export const ownHosts = (env: Settings): readonly string[] => {
  const origin = readSetting(env, "PUBLIC_ORIGIN");
  return [...readSetting(env, "OWN_HOSTS"), ...(origin === undefined ? [] : [new URL(origin).host])];
};

interface MailSettings {
  readonly from: string;
  /** The origin of their links, such as `https://atrium.example`: never a request's own claim. */
  readonly origin: string;
}

/** Null when the deployment sends no mail. */
export function mailSettings(env: Settings): MailSettings | null {
  const from = readSetting(env, "MAIL_FROM");
  if (from === undefined) return null;
  const links = readSetting(env, "PUBLIC_ORIGIN") ?? readSetting(env, "MAIL_ORIGIN");
  if (links !== undefined) return { from, origin: links };
  const problem = "The setting MAIL_FROM needs PUBLIC_ORIGIN, which the links in mails begin with; set both";
  throw new AppError("Server", "INTERNAL_ERROR", problem);
}

export interface PushSettings {
  /** 32 bytes as Base64url. */
  readonly privateKey: string;
  /** A `mailto:` or `https:` address; null for the origin of the service. */
  readonly contact: string | null;
}

/** Null when the deployment pushes nothing to browsers. */
export function pushSettings(env: Settings): PushSettings | null {
  const privateKey = readSetting(env, "VAPID_PRIVATE_KEY");
  if (privateKey === undefined) return null;
  const from = readSetting(env, "MAIL_FROM");
  const mail = from === undefined ? null : `mailto:${from}`;
  return { privateKey, contact: readSetting(env, "VAPID_SUBJECT") ?? mail };
}

export type JwtSecrets = readonly [current: string, ...previous: string[]];

export function jwtSecrets(env: Settings): JwtSecrets {
  const previous = readSetting(env, "JWT_SECRET_PREVIOUS");
  return [readSetting(env, "JWT_SECRET"), ...(previous === undefined ? [] : [previous])];
}

/** The people who may sign up without an invitation: none, unless the settings open it. */
export function signUpPolicy(env: Settings): SignUpPolicy {
  const type = readSetting(env, "SIGN_UP") || "invite";
  const allowed = readSetting(env, "SIGN_UP_DOMAINS");
  if (type !== "domains") return { type };
  if (allowed.length > 0) return { type, domains: allowed };
  const problem = 'The setting SIGN_UP_DOMAINS is empty; with SIGN_UP = "domains", it must name a domain';
  throw new AppError("Server", "INTERNAL_ERROR", problem);
}

export interface TurnstileSettings {
  /** Public: the pages contain it. */
  readonly siteKey: string;
  readonly secretKey: string;
  readonly verifyUrl: string;
}

/** Null unless the deployment has set both keys. */
export function turnstileSettings(env: Settings): TurnstileSettings | null {
  const siteKey = readSetting(env, "TURNSTILE_SITE_KEY");
  const secretKey = readSetting(env, "TURNSTILE_SECRET_KEY");
  if (siteKey === undefined && secretKey === undefined) return null;
  if (siteKey !== undefined && secretKey !== undefined)
    return { siteKey, secretKey, verifyUrl: readSetting(env, "TURNSTILE_VERIFY_URL") };
  const problem =
    "The settings TURNSTILE_SITE_KEY and TURNSTILE_SECRET_KEY belong together; set both or none";
  throw new AppError("Server", "INTERNAL_ERROR", problem);
}

/** Whether pages have a Turnstile widget, however the settings are to be completed. */
export const hasTurnstile = (env: Settings): boolean => readSetting(env, "TURNSTILE_SITE_KEY") !== undefined;

export interface OidcSettings {
  /** Its URL, by which accounts at the provider are stored. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  /** The provider's name, as pages show it. */
  readonly name: string;
  /** The email domains that the provider speaks for. */
  readonly domains: readonly string[];
}

/** The provider that people sign in by; null unless the deployment has set one. Plain http is for development hosts. */
export function oidcSettings(env: Settings): OidcSettings | null {
  const issuer = readSetting(env, "OIDC_ISSUER");
  const clientId = readSetting(env, "OIDC_CLIENT_ID");
  if (issuer === undefined && clientId === undefined) return null;
  if (issuer === undefined || clientId === undefined)
    throw wrongSetting("The settings OIDC_ISSUER and OIDC_CLIENT_ID belong together; set both or none");
  const url = new URL(issuer);
  if (url.protocol !== "https:" && !readSetting(env, "WEBHOOK_DEV_TARGETS").includes(hostOf(url)))
    throw wrongSetting("The setting OIDC_ISSUER must begin with https://");
  return {
    ...{ issuer, clientId, clientSecret: readSetting(env, "OIDC_CLIENT_SECRET") ?? null },
    name: readSetting(env, "OIDC_NAME") ?? url.host,
    domains: readSetting(env, "OIDC_DOMAINS"),
  };
}

/** Whether people may sign in by passwords: also where OIDC_ONLY stands without a provider, or no one could sign in. */
export const hasPasswords = (env: Settings): boolean =>
  readSetting(env, "OIDC_ONLY") !== "on" || readSetting(env, "OIDC_ISSUER") === undefined;

const wrongSetting = (problem: string) => new AppError("Server", "INTERNAL_ERROR", problem);

export const runLimits = (env: Settings) => ({
  wallMs: readSetting(env, "WORKFLOW_WALL_MS"),
  cpuMs: readSetting(env, "WORKFLOW_CPU_MS"),
  processCpuMs: readSetting(env, "WORKFLOW_PROCESS_CPU_MS"),
  calls: readSetting(env, "WORKFLOW_CALLS"),
  resultBytes: readSetting(env, "WORKFLOW_RESULT_BYTES"),
  logBytes: readSetting(env, "WORKFLOW_LOG_BYTES"),
  memoryMb: readSetting(env, "WORKFLOW_MEMORY_MB"),
});

export interface NamespaceSettings {
  readonly accountId: string;
  readonly namespace: string;
  readonly token: string;
  /** Has no trailing slash. */
  readonly apiUrl: string;
}

export const namespaceSettings = (env: Settings): NamespaceSettings => ({
  accountId: readSetting(env, "WORKFLOWS_CF_ACCOUNT_ID"),
  namespace: readSetting(env, "WORKFLOWS_NAMESPACE"),
  token: readSetting(env, "WORKFLOWS_API_TOKEN"),
  apiUrl: readSetting(env, "WORKFLOWS_API_URL"),
});
