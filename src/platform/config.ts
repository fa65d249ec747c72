/** Settings that belong together or have another unit, as the service uses them. */

import { AppError } from "./errors.ts";
import { readSetting, type Settings } from "./settings.ts";
import { DAY_MS } from "./time.ts";

export const quotaDefaults = (env: Settings) => ({
  rooms: readSetting(env, "QUOTA_ROOMS"),
  users: readSetting(env, "QUOTA_USERS"),
  identities: readSetting(env, "QUOTA_IDENTITIES"),
  groups: readSetting(env, "QUOTA_GROUPS"),
  group_members: readSetting(env, "QUOTA_GROUP_MEMBERS"),
  access_entries: readSetting(env, "QUOTA_ACCESS_ENTRIES"),
  links: readSetting(env, "QUOTA_LINKS"),
  guests: readSetting(env, "QUOTA_GUESTS"),
  webhooks: readSetting(env, "QUOTA_WEBHOOKS"),
  workflows: readSetting(env, "QUOTA_WORKFLOWS"),
  members: readSetting(env, "QUOTA_MEMBERS"),
  invitations: readSetting(env, "QUOTA_INVITATIONS"),
  api_keys: readSetting(env, "QUOTA_API_KEYS"),
  file_bytes: readSetting(env, "QUOTA_FILE_BYTES"),
  store_bytes: readSetting(env, "QUOTA_STORE_BYTES"),
  online_users: readSetting(env, "QUOTA_ONLINE_USERS"),
  waiting_events: readSetting(env, "QUOTA_WAITING_EVENTS"),
  waiting_bytes: readSetting(env, "QUOTA_WAITING_BYTES"),
  requests_per_second: readSetting(env, "QUOTA_REQUESTS_PER_SECOND"),
});

export const hasRequestQuota = (env: Settings): boolean => readSetting(env, "REQUEST_QUOTA") !== "off";

export const storeQuotaBytes = (env: Settings): number => readSetting(env, "ROOM_STORES_MIB") * 1024 * 1024;

/** The notifications that the mentions of one user may cause in an hour. */
export const notificationsPerHour = (env: Settings) => ({
  ofUser: readSetting(env, "NOTIFICATIONS_PER_HOUR"),
  ofGuest: readSetting(env, "GUEST_NOTIFICATIONS_PER_HOUR"),
});

/** For how long documents keep their edit history and unnamed versions. */
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

/** Whether API requests are logged: they are, unless the setting turns it off. */
export const hasRequestLog = (env: Settings): boolean => readSetting(env, "REQUEST_LOG") !== "off";

/** For how long the log of API requests keeps them, in milliseconds. */
export const requestLogKeptMs = (env: Settings): number => readSetting(env, "REQUEST_LOG_DAYS") * DAY_MS;

export const auditLogKeptMs = (env: Settings): number => readSetting(env, "AUDIT_LOG_DAYS") * DAY_MS;

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
export function signUpPolicy(env: Settings) {
  const type = readSetting(env, "SIGN_UP") || "invite";
  const allowed = readSetting(env, "SIGN_UP_DOMAINS");
  if (type !== "domains") return { type } as const;
  if (allowed.length > 0) return { type, domains: allowed } as const;
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
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

export const namespaceSettings = (env: Settings): NamespaceSettings => ({
  accountId: readSetting(env, "WORKFLOWS_CF_ACCOUNT_ID"),
  namespace: readSetting(env, "WORKFLOWS_NAMESPACE"),
  token: readSetting(env, "WORKFLOWS_API_TOKEN"),
  apiUrl: readSetting(env, "WORKFLOWS_API_URL"),
});
