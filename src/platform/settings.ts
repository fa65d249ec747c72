/** All variables and secrets of a deployment, declared and parsed in this file only. */
import * as z from "zod";
import "@atrium/contract/issues.ts";
import { AppError } from "@atrium/contract/errors.ts";
import { QUOTA_ENTRIES, QUOTAS, type QuotaSetting, settingOf } from "@atrium/contract/resources/quota.ts";
import { parseHosts } from "./network.ts";

const optionalText = () =>
  z
    .string()
    .optional()
    .transform((value) => value || undefined);

/** Comma-separated items; empty by default. */
const listOf = (itemOf: (text: string) => string) => () =>
  z
    .string()
    .default("")
    .transform((setting) =>
      setting
        .split(",")
        .map((text) => itemOf(text.trim()))
        .filter((item) => item !== ""),
    );

const names = listOf((name) => name);

const domains = listOf((domain) => domain.toLowerCase().replace(/^@/, ""));

const hosts = () => z.string().default("").transform(parseHosts);

/** A number that a pattern describes. Anything else is an error, so that a typo cannot remove a limit. */
const numberLike = (pattern: RegExp, range: string, fallback: number) => () =>
  z
    .string()
    .default("")
    .refine(
      (value) => value === "" || pattern.test(value),
      `must be a whole number from ${range}; remove it to use ${fallback}`,
    )
    .transform((value) => (value === "" ? fallback : Number(value)));

const wholeNumber = (fallback: number) => numberLike(/^[1-9]\d{0,8}$/, "1 to 999999999", fallback);

/** A count that may be 0, or exceed {@link wholeNumber}, such as of bytes. */
const largeNumber = (fallback: number) => numberLike(/^(0|[1-9]\d{0,14})$/, "0 to 999999999999999", fallback);

/** The default limits of organizations. */
const quotaSettings = () =>
  Object.fromEntries(
    QUOTAS.map((quota) => [settingOf(quota), largeNumber(QUOTA_ENTRIES[quota].fallback)]),
  ) as Readonly<Record<QuotaSetting, ReturnType<typeof largeNumber>>>;

const onOrOff = () =>
  z
    .string()
    .default("")
    .pipe(z.enum(["", "on", "off"], 'must be "on" or "off"'));

/** One of these texts, or undefined. */
const oneOf = <const Value extends string>(values: readonly Value[]) =>
  z
    .string()
    .default("")
    .pipe(
      z.enum(
        ["", ...values],
        `must be ${values
          .map((value) => `"${value}"`)
          .join(", ")
          .replace(/, (?=[^,]+$)/, " or ")}`,
      ),
    )
    .transform((value) => (value === "" ? undefined : (value as Value)));

const origin = () =>
  optionalText().transform((value, issues) => {
    if (value === undefined) return undefined;
    const url = URL.parse(value);
    if (url !== null && /^https?:$/.test(url.protocol) && value.replace(/\/$/, "") === url.origin)
      return url.origin;
    issues.addIssue("must be an origin such as https://atrium.example, without a path");
    return z.NEVER;
  });

/** A bucket's address, and possibly a prefix in it. http serves a receiver on this machine only. */
const bucket = () =>
  optionalText().transform((value, issues) => {
    if (value === undefined) return undefined;
    const url = URL.parse(value);
    const isPrivate = url?.protocol === "https:" || /^http:\/\/(localhost|127\.0\.0\.1)[:/]/.test(value);
    if (url !== null && isPrivate && !/[?#@]/.test(value)) return url.href.replace(/\/+$/, "");
    issues.addIssue(
      "must be the https: address of a bucket, such as https://s3.eu-west-1.amazonaws.com/copies",
    );
    return z.NEVER;
  });

/** The address of an OpenID Connect issuer in the form of `URL`: one spelling, one issuer. */
const issuer = () =>
  optionalText().transform((value, issues) => {
    if (value === undefined) return undefined;
    const url = URL.parse(value);
    if (url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "")
      return url.href;
    issues.addIssue("must be an address such as https://login.example.com, without a query");
    return z.NEVER;
  });

/** Required text; `remedy` says how to set it. */
const required = (remedy: string) => {
  const problem = `is not set: ${remedy}`;
  return () => z.string(problem).trim().min(1, problem);
};

export type Settings = Readonly<Partial<Record<SettingName, string>>>;
export type SettingName = keyof typeof SETTINGS;

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name);

const MIN_SECRET_LENGTH = 32;
const MIN_TOKEN_LENGTH = 16;
const JWT_SECRET_PROBLEM =
  `is missing or shorter than ${MIN_SECRET_LENGTH} characters. Locally, \`npm start\` makes one in .dev.vars, which \`wrangler dev\` reads when it starts; ` +
  "in production, run `npm run deploy`, or `npx wrangler secret put JWT_SECRET`";

/** Each makes its schema when the setting is first read: the start of an isolate reads few. */
const SETTINGS = {
  JWT_SECRET: () => z.string(JWT_SECRET_PROBLEM).min(MIN_SECRET_LENGTH, JWT_SECRET_PROBLEM),
  JWT_SECRET_PREVIOUS: optionalText,
  /** The service's own origin, such as `https://atrium.example`; without it, each request's own is used. */
  PUBLIC_ORIGIN: origin,
  /** Further host names that lead to this service, which neither webhooks nor workflows may reach. */
  OWN_HOSTS: hosts,
  /** The host names under which the service answers, `*` for all; Cloudflare passes on those of the deployment only. */
  ALLOWED_HOSTS: hosts,
  /** The address of every client, where nothing reports it: `npm start` serves this machine only. */
  CLIENT_ADDRESS: optionalText,
  PLACE_ORGANIZATIONS_IN: names,
  /** Cloudflare's plan of the account: work in the background keeps within the calls that it allows an invocation. */
  PLAN: () =>
    z
      .string()
      .default("")
      .pipe(z.enum(["", "free", "paid"], 'must be "free" or "paid"'))
      .transform((plan) => plan || "paid"),
  /** Where D1, R2 and the objects keep data, from the first deployment on; both empty for automatic. */
  LOCATION: () => oneOf(["wnam", "enam", "weur", "eeur", "apac", "oc"]),
  JURISDICTION: () => oneOf(["eu", "us", "fedramp"]),
  DEMO_ACCOUNT_ID: optionalText,
  /** The people who may sign up without an invitation; none by default. */
  SIGN_UP: () =>
    z
      .string()
      .default("")
      .pipe(z.enum(["", "open", "invite", "domains"], 'must be "open", "invite" or "domains"')),
  SIGN_UP_DOMAINS: domains,
  /** The OpenID Connect provider that people sign in by; OIDC_CLIENT_SECRET is left out for a public client. */
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: optionalText,
  OIDC_CLIENT_SECRET: optionalText,
  /** The provider's name on buttons; the issuer's host by default. */
  OIDC_NAME: optionalText,
  /** The email domains that the provider speaks for. */
  OIDC_DOMAINS: domains,
  /** Whether passwords are refused. */
  OIDC_ONLY: onOrOff,
  /** The keys of a Turnstile widget, which signing in and up then ask for; both or none. */
  TURNSTILE_SITE_KEY: optionalText,
  TURNSTILE_SECRET_KEY: optionalText,
  TURNSTILE_VERIFY_URL: () =>
    optionalText().transform((url) => url ?? "https://challenges.cloudflare.com/turnstile/v0/siteverify"),
  MAIL_FROM: () =>
    optionalText().pipe(z.email("must be an email address, such as atrium@example.com").optional()),
  /** The origin of links in mails without PUBLIC_ORIGIN: `npm start` knows its own address. */
  MAIL_ORIGIN: origin,
  /** The private key by which push services know the service (VAPID); without it, it pushes nothing. */
  VAPID_PRIVATE_KEY: () =>
    optionalText().refine(
      (key) => key === undefined || /^[\w-]{43}$/.test(key),
      "must be a private key on P-256: 32 bytes as Base64url; remove it for no web push",
    ),
  /** The contact that push services write to, instead of MAIL_FROM or the service's own origin. */
  VAPID_SUBJECT: () =>
    optionalText().refine(
      (contact) => contact === undefined || /^(mailto:.+@|https:\/\/)./.test(contact),
      "must be a mailto: or https: address, such as mailto:atrium@example.com",
    ),
  ...quotaSettings(),
  /** Whether the requests of an organization in a second are counted, and bounded by their quota. */
  REQUEST_QUOTA: onOrOff,
  BACKLOG_MIB: wholeNumber(5 * 1024),
  BACKLOG_DAYS: wholeNumber(7),
  EVENT_LOG_DAYS: wholeNumber(30),
  EVENT_LOG_MIB: wholeNumber(5 * 1024),
  /** Whether there is a log of API requests, and for how long it keeps them, in days. */
  REQUEST_LOG: onOrOff,
  REQUEST_LOG_DAYS: wholeNumber(7),
  /** Token for `GET /metrics`; none are served without it. */
  METRICS_TOKEN: () =>
    optionalText().refine(
      (token) => token === undefined || token.length >= MIN_TOKEN_LENGTH,
      `must have at least ${MIN_TOKEN_LENGTH} characters; remove it for no metrics`,
    ),
  AUDIT_LOG_DAYS: wholeNumber(90),
  /** The bucket of another S3 or of R2 that the databases are copied into each day; without it, they are not. */
  COPY_TO: bucket,
  /** The region of the bucket, where its address does not name it. */
  COPY_REGION: optionalText,
  COPY_ACCESS_KEY_ID: optionalText,
  COPY_SECRET_ACCESS_KEY: optionalText,
  COPY_DAYS: wholeNumber(14),
  /** Hosts that webhooks may reach over http and in private networks. For development only. */
  WEBHOOK_DEV_TARGETS: hosts,
  WORKFLOW_DEV_TARGETS: hosts,
  /** Reconnect grace period, in milliseconds. */
  RECONNECT_GRACE_MS: largeNumber(10_000),
  ROOM_STORES_MIB: wholeNumber(1024),
  /** The notifications that the mentions of one user, and of one guest, may cause in an hour. */
  NOTIFICATIONS_PER_HOUR: largeNumber(100_000),
  GUEST_NOTIFICATIONS_PER_HOUR: largeNumber(100),
  DOCUMENT_TRAIL_DAYS: wholeNumber(30),
  /** Limits of one run of a workflow (decisions section 5). */
  WORKFLOW_WALL_MS: wholeNumber(30_000),
  WORKFLOW_CPU_MS: wholeNumber(50),
  WORKFLOW_PROCESS_CPU_MS: wholeNumber(1_000),
  WORKFLOW_CALLS: wholeNumber(200),
  WORKFLOW_RESULT_BYTES: wholeNumber(256 * 1024),
  WORKFLOW_LOG_BYTES: wholeNumber(64 * 1024),
  WORKFLOW_MEMORY_MB: wholeNumber(128),
  WORKFLOWS_CF_ACCOUNT_ID: required(
    "`npx wrangler whoami` shows the account's ID, which goes into atrium.toml",
  ),
  WORKFLOWS_NAMESPACE: required(
    "`npx wrangler dispatch-namespace create atrium-workflows` makes one, and its name goes into atrium.toml",
  ),
  WORKFLOWS_API_TOKEN: required(
    'make a token with the permission "Workers Scripts Write", and run `npx wrangler secret put WORKFLOWS_API_TOKEN`',
  ),
  WORKFLOWS_API_URL: () =>
    optionalText().transform((url) =>
      (url?.trim() || "https://api.cloudflare.com/client/v4").replace(/\/+$/, ""),
    ),
} as const;

/** Parsed settings by name, with their text: requests read the same ones again. */
const parsed = new Map<SettingName, { readonly text: string | undefined; readonly value: unknown }>();

/** Parses one setting. Throws an INTERNAL_ERROR with its name and its valid values. */
export function readSetting<Name extends SettingName>(
  env: Settings,
  name: Name,
): z.output<ReturnType<(typeof SETTINGS)[Name]>> {
  type Value = z.output<ReturnType<(typeof SETTINGS)[Name]>>;
  const text = env[name];
  const known = parsed.get(name);
  if (known !== undefined && known.text === text) return known.value as Value;
  const result = SETTINGS[name]().safeParse(text);
  if (result.success) {
    parsed.set(name, { text, value: result.data });
    return result.data as Value;
  }
  throw new AppError("Server", "INTERNAL_ERROR", `The setting ${name} ${result.error.issues[0]?.message}`);
}
