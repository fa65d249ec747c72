/** The quotas of an organization: counted things and default limits. Pure. */

interface QuotaEntry {
  /** The things that are counted, in the words of the API. */
  readonly counted: string;
  /** The name of its meter in the dashboard. */
  readonly label: string;
  /** The limit, unless the setting of the deployment or the operator's limit of the organization says otherwise. */
  readonly fallback: number;
  /** Ways to get below the limit, as a refusal names them. */
  readonly remedy: string;
  readonly unit?: "bytes";
  /** Counted in the directory for every organization: people and their access. */
  readonly inDirectory?: true;
  /** The delay of a count that is not exact, with its subject. */
  readonly late?: string;
}

const GIB = 1024 ** 3;
const WAITING = {
  remedy: "make the webhooks and workflows that lag work again, or delete them",
  late: "waiting events by up to a minute",
} as const;

/**
 * The quotas, in the order of the API. The setting of a quota's default is `QUOTA_` with its name in capitals. A migration
 * gives the quota its triggers, and a row in `quotas` to each organization: `test/quotas` finds a quota without them.
 */
const ENTRIES = {
  rooms: { counted: "rooms", label: "Rooms", fallback: 100_000, remedy: "delete rooms" },
  users: { counted: "users of all rooms", label: "Users", fallback: 10_000_000, remedy: "delete users" },
  identities: {
    counted: "identities, without guests",
    label: "Identities",
    fallback: 10_000_000,
    remedy: "delete identities",
  },
  groups: { counted: "groups of identities", label: "Groups", fallback: 100_000, remedy: "delete groups" },
  group_members: {
    counted: "memberships in groups",
    label: "Members of groups",
    fallback: 10_000_000,
    remedy: "delete groups, or take identities out of them",
  },
  access_entries: {
    counted: "entries of groups and identities in the access of rooms",
    label: "Access of groups and identities",
    fallback: 10_000_000,
    remedy: "remove groups and identities from the access of rooms",
  },
  links: {
    counted: "links of rooms",
    label: "Links of rooms",
    fallback: 1_000_000,
    remedy: "revoke links of rooms",
  },
  guests: {
    counted: "guests of links",
    label: "Guests",
    fallback: 1_000_000,
    remedy: "revoke links of rooms, which ends their guests",
  },
  webhooks: { counted: "webhooks", label: "Webhooks", fallback: 1_000, remedy: "delete webhooks" },
  workflows: { counted: "workflows", label: "Workflows", fallback: 1_000, remedy: "delete workflows" },
  /** Protects the directory, which all organizations share; it is no price per seat. */
  members: {
    counted: "members of the organization",
    label: "Members",
    fallback: 50_000,
    remedy: "remove members",
    inDirectory: true,
  },
  invitations: {
    counted: "invitations that wait to be accepted",
    label: "Invitations",
    fallback: 1_000,
    remedy: "withdraw invitations, or wait until they are accepted or expire",
    inDirectory: true,
  },
  api_keys: {
    counted: "API keys",
    label: "API keys",
    fallback: 1_000,
    remedy: "revoke API keys",
    inDirectory: true,
  },
  file_bytes: {
    counted: "bytes of stored files",
    label: "Stored files",
    fallback: 100 * GIB,
    remedy: "delete files",
    unit: "bytes",
  },
  store_bytes: {
    counted: "bytes of the stores, documents and streams of all rooms",
    label: "Stores, documents, streams",
    fallback: 100 * GIB,
    remedy: "delete entries of stores, documents, or streams",
    unit: "bytes",
    late: "the bytes of stores by up to a MiB for each room",
  },
  online_users: {
    counted: "users who are online in a room",
    label: "Users online",
    fallback: 100_000,
    remedy: "wait until others leave",
    late: "users online by about a second",
  },
  waiting_events: {
    counted: "events that wait for webhooks and workflows",
    label: "Waiting events",
    fallback: 50_000_000,
    ...WAITING,
  },
  waiting_bytes: {
    counted: "their bytes",
    label: "Waiting events, size",
    fallback: 50 * GIB,
    unit: "bytes",
    ...WAITING,
  },
  requests_per_second: {
    counted: "requests to the API in a second",
    label: "Requests per second",
    fallback: 1_000,
    remedy: "wait and retry",
    late: "requests in a second by up to 20 seconds",
  },
} as const satisfies Readonly<Record<string, QuotaEntry>>;
export type QuotaName = keyof typeof ENTRIES;
export const QUOTAS = Object.keys(ENTRIES) as [QuotaName, ...QuotaName[]];
export const QUOTA_ENTRIES: Readonly<Record<QuotaName, QuotaEntry>> = ENTRIES;

export const isInDirectory = (quota: string): boolean =>
  QUOTAS.some((name) => name === quota && QUOTA_ENTRIES[name].inDirectory);

export const isSize = (quota: QuotaName): boolean => QUOTA_ENTRIES[quota].unit === "bytes";

export type QuotaSetting = `QUOTA_${Uppercase<QuotaName>}`;
export const settingOf = (quota: QuotaName) => `QUOTA_${quota.toUpperCase()}` as QuotaSetting;

/** A value for each quota. */
export const eachQuota = <Value>(value: (quota: QuotaName) => Value) =>
  Object.fromEntries(QUOTAS.map((quota) => [quota, value(quota)])) as Readonly<Record<QuotaName, Value>>;

const sizesLast = [...QUOTAS].sort((a, b) => Number(isSize(a)) - Number(isSize(b)));
const lateCounts = [...new Set(sizesLast.flatMap((quota) => QUOTA_ENTRIES[quota].late ?? []))];

/** How exact the counts are, for readers of the API and the dashboard. */
export const EXACTNESS = `Most counts are exact. Some are late: ${lateCounts.slice(0, -1).join(", ")}, and ${lateCounts.at(-1)}.`;

/** Counts beside quotas, in the same table: rooms with users online, and subscribers with a backlog. */
export const COUNTERS = [...QUOTAS, "online_rooms", "backlogs"] as const;
export type CounterName = (typeof COUNTERS)[number];

/** The limit of each quota, unless the operator has set another one for the organization. */
export type QuotaDefaults = Readonly<Record<QuotaName, number>>;

export interface QuotaUse {
  readonly quota: QuotaName;
  readonly used: number;
  readonly limit: number;
}

/** The text of a refusal: the quota, its use and its limit, then the remedy. */
export const describeExceeded = ({ quota, used, limit }: QuotaUse): string =>
  `The quota ${quota} is exceeded: ${used} of ${limit} are used; ${QUOTA_ENTRIES[quota].remedy}, or ask the service's operator for a higher limit`;
