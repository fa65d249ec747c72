/** How much of everything is kept, and for how long. */
import { DAY_MS } from "../time.ts";
import { readSetting, type Settings } from "./settings.ts";

export const quotaDefaults = (env: Settings) => ({
  rooms: readSetting(env, "QUOTA_ROOMS"),
  users: readSetting(env, "QUOTA_USERS"),
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

/** For how long documents keep their edit history and unnamed versions. */
export const documentTrailKeptMs = (env: Settings): number =>
  readSetting(env, "DOCUMENT_TRAIL_DAYS") * DAY_MS;

/** For how long a user stays online whose connection broke, in milliseconds; 0 for not at all. */
export const reconnectGraceMs = (env: Settings): number => readSetting(env, "RECONNECT_GRACE_MS");

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
