/** The bindings and settings of a deployment (wrangler.toml, secrets), declared and parsed in this file only. */
import * as z from "zod";
import type { SubscriberRpc } from "../delivery/port/subscriber-rpc.ts";
import type { EventLogRpc } from "../event-log/port/event-log-rpc.ts";
import type { GuessLimitRpc } from "../people/limits/guess-limit-rpc.ts";
import type { DebugPort } from "../platform/debug-port.ts";
import { AppError } from "../platform/errors.ts";
import {
  domains,
  hosts,
  largeNumber,
  names,
  optionalText,
  origin,
  required,
  wholeNumber,
} from "../platform/setting-kinds.ts";
import type { RoomRpc } from "../realtime/port/room-gateway.ts";
import type { RequestLogRpc } from "../request-log/port/request-log-rpc.ts";

/** The bindings, as wrangler.toml names them. Settings are strings until a function below parses them. */
export interface Env extends Partial<Record<SettingName, string>> {
  /** The directory. Further databases for organizations, DB_2 and so on, are opened by placement/databases. */
  readonly DB: D1Database;
  readonly ROOMS: DurableObjectNamespace<RoomRpc>;
  readonly SUBSCRIBERS: DurableObjectNamespace<SubscriberRpc>;
  readonly EVENT_LOGS: DurableObjectNamespace<EventLogRpc>;
  readonly REQUEST_LOGS: DurableObjectNamespace<RequestLogRpc>;
  readonly GUESS_LIMITS: DurableObjectNamespace<GuessLimitRpc>;
  readonly FILES: R2Bucket;
  /** Where metrics are written; none unless wrangler.toml binds it. */
  readonly METRICS?: AnalyticsEngineDataset;
  readonly ACCOUNT_RATE_LIMIT: RateLimit;
  readonly CREDENTIAL_RATE_LIMIT: RateLimit;
  readonly USER_RATE_LIMIT: RateLimit;
  readonly AUTH_FAILURE_RATE_LIMIT: RateLimit;
  readonly DEMO_RATE_LIMIT: RateLimit;
  readonly SIGN_IN_ADDRESS_RATE_LIMIT: RateLimit;
  /** The pool of processes for the code of workflows, and how it reaches them: only under `npm start`. */
  readonly PROGRAM_POOL?: Fetcher;
  readonly PROGRAM_PORT?: DebugPort;
  /** Cloudflare's binding that sends mail; a deployment without it sends none. */
  readonly MAIL?: SendEmail;
  /** Takes the mail instead, for a developer to read: only under `npm start` on this machine. */
  readonly MAIL_TRAY?: Fetcher;
  /** Starts isolates for the code of workflows. */
  readonly LOADER?: WorkerLoader;
  /** The scripts of workflows in a dispatch namespace (Workers for Platforms); replaces LOADER. */
  readonly DISPATCHER?: DispatchNamespace;
  /** The built web pages, from `.wrangler/public`. */
  readonly ASSETS: Fetcher;
}

/** All variables and secrets, as text. */
export type Settings = Readonly<Partial<Record<SettingName, string>>>;
type SettingName = keyof typeof SETTINGS;

const MIN_SECRET_LENGTH = 32;
const MIN_TOKEN_LENGTH = 16;
const JWT_SECRET_PROBLEM =
  `is missing or shorter than ${MIN_SECRET_LENGTH} characters. Locally, \`npm start\` makes one in .dev.vars, which \`wrangler dev\` reads when it starts; ` +
  "in production, run `npm run deploy`, or `npx wrangler secret put JWT_SECRET`";

const SETTINGS = {
  /** Signs users' tokens; the dashboard's cookies are signed with a key derived from it. */
  JWT_SECRET: z.string(JWT_SECRET_PROBLEM).min(MIN_SECRET_LENGTH, JWT_SECRET_PROBLEM),
  /** The secret before the latest rotation. Tokens signed with it stay valid. */
  JWT_SECRET_PREVIOUS: optionalText,
  /** The service's own origin, such as `https://atrium.example`; without it, each request's own is used. */
  PUBLIC_ORIGIN: origin,
  /** Further host names that lead to this service, which neither webhooks nor workflows may reach. */
  OWN_HOSTS: hosts,
  /** The host names under which the service answers, `*` for all; Cloudflare passes on those of the deployment only. */
  ALLOWED_HOSTS: hosts,
  /** The address of every client, where nothing reports it: `npm start` serves this machine only. */
  CLIENT_ADDRESS: optionalText,
  /** The bindings of the databases that new organizations are placed in; all by default. */
  PLACE_ORGANIZATIONS_IN: names,
  /** The organization of /demo; without it, there is no demo. */
  DEMO_ACCOUNT_ID: optionalText,
  /** Who may sign up without an invitation; closed unless it is set. */
  SIGN_UP: z
    .string()
    .default("")
    .pipe(z.enum(["", "open", "invite", "domains"], 'must be "open", "invite" or "domains"')),
  /** The domains of `SIGN_UP = "domains"`. */
  SIGN_UP_DOMAINS: domains,
  /** The keys of a Turnstile widget, which signing in and up then ask for; both or none. */
  TURNSTILE_SITE_KEY: optionalText,
  TURNSTILE_SECRET_KEY: optionalText,
  /** Where responses of the widget are verified. */
  TURNSTILE_VERIFY_URL: optionalText.transform(
    (url) => url ?? "https://challenges.cloudflare.com/turnstile/v0/siteverify",
  ),
  /** The address that the service's mails come from; without it, it sends none. */
  MAIL_FROM: optionalText.pipe(z.email("must be an email address, such as atrium@example.com").optional()),
  /** What links in mails begin with where PUBLIC_ORIGIN is not set: `npm start` knows its own address. */
  MAIL_ORIGIN: origin,
  /** The quotas of organizations for which the operator has set no others. */
  QUOTA_ROOMS: largeNumber(100_000),
  QUOTA_USERS: largeNumber(10_000_000),
  QUOTA_WEBHOOKS: largeNumber(1_000),
  QUOTA_WORKFLOWS: largeNumber(1_000),
  QUOTA_FILE_BYTES: largeNumber(100 * 1024 ** 3),
  QUOTA_STORE_BYTES: largeNumber(100 * 1024 ** 3),
  QUOTA_ONLINE_USERS: largeNumber(100_000),
  /** What may wait for one webhook or workflow, in MiB and in days: an object's storage has 10 GB. */
  BACKLOG_MIB: wholeNumber(5 * 1024),
  BACKLOG_DAYS: wholeNumber(7),
  /** For how long the event log keeps events, in days, and what each of its objects may have, in MiB. */
  EVENT_LOG_DAYS: wholeNumber(30),
  EVENT_LOG_MIB: wholeNumber(5 * 1024),
  /** Whether there is a log of API requests, and for how long it keeps them, in days. */
  REQUEST_LOG: z
    .string()
    .default("")
    .pipe(z.enum(["", "on", "off"], 'must be "on" or "off"')),
  REQUEST_LOG_DAYS: wholeNumber(7),
  /** Opens `GET /metrics` to who knows it; without it there is none. */
  METRICS_TOKEN: optionalText.refine(
    (token) => token === undefined || token.length >= MIN_TOKEN_LENGTH,
    `must have at least ${MIN_TOKEN_LENGTH} characters; remove it for no metrics`,
  ),
  /** For how long the audit log keeps entries, in days. */
  AUDIT_LOG_DAYS: wholeNumber(90),
  /** Hosts that webhooks may reach over http and in private networks. For development only. */
  WEBHOOK_DEV_TARGETS: hosts,
  /** The same, for `fetch` in workflows. */
  WORKFLOW_DEV_TARGETS: hosts,
  /** For how long a user stays online whose connection broke, in milliseconds. */
  RECONNECT_GRACE_MS: largeNumber(10_000),
  /** What all stores of a room may have together, in MiB. */
  ROOM_STORES_MIB: wholeNumber(1024),
  /** For how long documents keep who wrote what when, and the versions that rooms make by themselves, in days. */
  DOCUMENT_TRAIL_DAYS: wholeNumber(30),
  /** Limits of one run of a workflow (decisions section 5). */
  WORKFLOW_WALL_MS: wholeNumber(30_000),
  WORKFLOW_CPU_MS: wholeNumber(50),
  WORKFLOW_PROCESS_CPU_MS: wholeNumber(1_000),
  WORKFLOW_CALLS: wholeNumber(200),
  WORKFLOW_RESULT_BYTES: wholeNumber(256 * 1024),
  WORKFLOW_LOG_BYTES: wholeNumber(64 * 1024),
  WORKFLOW_MEMORY_MB: wholeNumber(128),
  /** The dispatch namespace that holds the scripts of workflows in production, and the access to it. */
  WORKFLOWS_CF_ACCOUNT_ID: required(
    "`npx wrangler whoami` shows the account's ID, which goes into [vars] of wrangler.toml",
  ),
  WORKFLOWS_NAMESPACE: required(
    "`npx wrangler dispatch-namespace create atrium-workflows` makes one, and its name goes into [vars] of wrangler.toml",
  ),
  WORKFLOWS_API_TOKEN: required(
    'make a token with the permission "Workers Scripts Write", and run `npx wrangler secret put WORKFLOWS_API_TOKEN`',
  ),
  WORKFLOWS_API_URL: optionalText.transform((url) =>
    (url?.trim() || "https://api.cloudflare.com/client/v4").replace(/\/+$/, ""),
  ),
} as const;

/** Parses one setting. Throws an INTERNAL_ERROR that names it and says what it must be. */
export function read<Name extends SettingName>(env: Settings, name: Name): z.output<(typeof SETTINGS)[Name]> {
  const result = SETTINGS[name].safeParse(env[name]);
  if (result.success) return result.data as z.output<(typeof SETTINGS)[Name]>;
  throw new AppError("Server", "INTERNAL_ERROR", `The setting ${name} ${result.error.issues[0]?.message}`);
}

/** The secrets of users' tokens: the first one signs, all of them verify. */
export type JwtSecrets = readonly [current: string, ...previous: string[]];

export function jwtSecrets(env: Settings): JwtSecrets {
  const previous = read(env, "JWT_SECRET_PREVIOUS");
  return [read(env, "JWT_SECRET"), ...(previous === undefined ? [] : [previous])];
}

/** The origin of the service's links and pages; undefined to use each request's own. */
export const publicOrigin = (env: Settings): string | undefined => read(env, "PUBLIC_ORIGIN");

/** The hosts that lead to this service, as far as the settings tell. */
export const ownHosts = (env: Settings): readonly string[] => {
  const origin = publicOrigin(env);
  return [...read(env, "OWN_HOSTS"), ...(origin === undefined ? [] : [new URL(origin).host])];
};

/** The host names under which the service answers; none for all. */
export const allowedHosts = (env: Settings): readonly string[] => read(env, "ALLOWED_HOSTS");

/** The address that stands for every client; undefined where the platform reports each one's. */
export const clientAddress = (env: Settings): string | undefined => read(env, "CLIENT_ADDRESS");

/** The bindings of the databases that new organizations are placed in; none for all. */
export const placeOrganizationsIn = (env: Settings): readonly string[] => read(env, "PLACE_ORGANIZATIONS_IN");

export const demoAccountId = (env: Settings): string | undefined => read(env, "DEMO_ACCOUNT_ID");

/** Who may sign up without an invitation: no one, unless the settings open it. */
export function signUpPolicy(env: Settings) {
  const type = read(env, "SIGN_UP") || "invite";
  const allowed = read(env, "SIGN_UP_DOMAINS");
  if (type !== "domains") return { type } as const;
  if (allowed.length > 0) return { type, domains: allowed } as const;
  const problem = 'The setting SIGN_UP_DOMAINS is empty; with SIGN_UP = "domains", it must name a domain';
  throw new AppError("Server", "INTERNAL_ERROR", problem);
}

/** The Turnstile widget of the pages for signing in and up. */
export interface TurnstileSettings {
  /** Public: the pages contain it. */
  readonly siteKey: string;
  readonly secretKey: string;
  readonly verifyUrl: string;
}

/** Null unless the deployment has set both keys. */
export function turnstileSettings(env: Settings): TurnstileSettings | null {
  const siteKey = read(env, "TURNSTILE_SITE_KEY");
  const secretKey = read(env, "TURNSTILE_SECRET_KEY");
  if (siteKey === undefined && secretKey === undefined) return null;
  if (siteKey !== undefined && secretKey !== undefined)
    return { siteKey, secretKey, verifyUrl: read(env, "TURNSTILE_VERIFY_URL") };
  const problem =
    "The settings TURNSTILE_SITE_KEY and TURNSTILE_SECRET_KEY belong together; set both or none";
  throw new AppError("Server", "INTERNAL_ERROR", problem);
}

/** Whether pages have a Turnstile widget, however the settings are to be completed. */
export const hasTurnstile = (env: Settings): boolean => read(env, "TURNSTILE_SITE_KEY") !== undefined;

/** How the service sends mail. */
export interface MailSettings {
  /** The address that mails come from. */
  readonly from: string;
  /** What their links begin with, such as `https://atrium.example`: never what a request says of itself. */
  readonly origin: string;
}

/** Null when the deployment sends no mail. */
export function mailSettings(env: Settings): MailSettings | null {
  const from = read(env, "MAIL_FROM");
  if (from === undefined) return null;
  const links = publicOrigin(env) ?? read(env, "MAIL_ORIGIN");
  if (links !== undefined) return { from, origin: links };
  const problem = "The setting MAIL_FROM needs PUBLIC_ORIGIN, which the links in mails begin with; set both";
  throw new AppError("Server", "INTERNAL_ERROR", problem);
}

/** The quotas of organizations for which the operator has set no others. */
export const quotaDefaults = (env: Settings) => ({
  rooms: read(env, "QUOTA_ROOMS"),
  users: read(env, "QUOTA_USERS"),
  webhooks: read(env, "QUOTA_WEBHOOKS"),
  workflows: read(env, "QUOTA_WORKFLOWS"),
  file_bytes: read(env, "QUOTA_FILE_BYTES"),
  store_bytes: read(env, "QUOTA_STORE_BYTES"),
  online_users: read(env, "QUOTA_ONLINE_USERS"),
});

/** The hosts that webhooks may also reach in development. */
export const webhookDevTargets = (env: Settings): readonly string[] => read(env, "WEBHOOK_DEV_TARGETS");

/** The hosts that workflows may also reach in development. */
export const workflowDevTargets = (env: Settings): readonly string[] => read(env, "WORKFLOW_DEV_TARGETS");

/** The quota of a room: what all its stores may have together, in bytes. */
export const storeQuotaBytes = (env: Settings): number => read(env, "ROOM_STORES_MIB") * 1024 * 1024;

/** For how long documents keep their trail, and their versions without a name, in milliseconds. */
export const documentTrailKeptMs = (env: Settings): number =>
  read(env, "DOCUMENT_TRAIL_DAYS") * 24 * 60 * 60 * 1000;

/** For how long a user stays online whose connection broke, in milliseconds; 0 for not at all. */
export const reconnectGraceMs = (env: Settings): number => read(env, "RECONNECT_GRACE_MS");

/** What may wait for one webhook or workflow before it is suspended. */
export const backlogLimits = (env: Settings) => ({
  maxBytes: read(env, "BACKLOG_MIB") * 1024 * 1024,
  maxAgeMs: read(env, "BACKLOG_DAYS") * 24 * 60 * 60 * 1000,
});

/** What each object of an organization's event log keeps. */
export const eventLogLimits = (env: Settings) => ({
  keptMs: read(env, "EVENT_LOG_DAYS") * 24 * 60 * 60 * 1000,
  maxBytes: read(env, "EVENT_LOG_MIB") * 1024 * 1024,
});

/** Whether API requests are logged: they are, unless the setting turns it off. */
export const hasRequestLog = (env: Settings): boolean => read(env, "REQUEST_LOG") !== "off";

/** For how long the log of API requests keeps them, in milliseconds. */
export const requestLogKeptMs = (env: Settings): number =>
  read(env, "REQUEST_LOG_DAYS") * 24 * 60 * 60 * 1000;

/** What opens `GET /metrics`; undefined where it is closed. */
export const metricsToken = (env: Settings): string | undefined => read(env, "METRICS_TOKEN");

/** For how long the audit log keeps entries, in milliseconds. */
export const auditLogKeptMs = (env: Settings): number => read(env, "AUDIT_LOG_DAYS") * 24 * 60 * 60 * 1000;

/** The limits of a run of a workflow. */
export const runLimits = (env: Settings) => ({
  wallMs: read(env, "WORKFLOW_WALL_MS"),
  cpuMs: read(env, "WORKFLOW_CPU_MS"),
  processCpuMs: read(env, "WORKFLOW_PROCESS_CPU_MS"),
  calls: read(env, "WORKFLOW_CALLS"),
  resultBytes: read(env, "WORKFLOW_RESULT_BYTES"),
  logBytes: read(env, "WORKFLOW_LOG_BYTES"),
  memoryMb: read(env, "WORKFLOW_MEMORY_MB"),
});

/** The dispatch namespace of the scripts of workflows. */
export interface NamespaceSettings {
  readonly accountId: string;
  readonly namespace: string;
  /** A secret with the permission to write the account's scripts. */
  readonly token: string;
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

export const namespaceSettings = (env: Settings): NamespaceSettings => ({
  accountId: read(env, "WORKFLOWS_CF_ACCOUNT_ID"),
  namespace: read(env, "WORKFLOWS_NAMESPACE"),
  token: read(env, "WORKFLOWS_API_TOKEN"),
  apiUrl: read(env, "WORKFLOWS_API_URL"),
});
