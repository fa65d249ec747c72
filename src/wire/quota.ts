/** The quotas of an organization: what is counted, and how much is allowed by default. Pure. */

export const QUOTAS = [
  "rooms",
  "users",
  "identities",
  "groups",
  "group_members",
  "access_entries",
  "links",
  "guests",
  "webhooks",
  "workflows",
  "members",
  "invitations",
  "api_keys",
  "file_bytes",
  "store_bytes",
  "online_users",
  "waiting_events",
  "waiting_bytes",
  "requests_per_second",
] as const;
export type QuotaName = (typeof QUOTAS)[number];

/** Counts of people and their access, in the directory for every organization. */
const IN_DIRECTORY: readonly string[] = ["members", "invitations", "api_keys"] satisfies QuotaName[];
export const isInDirectory = (quota: string): boolean => IN_DIRECTORY.includes(quota);

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

const WORK_OFF = "make the webhooks and workflows that lag work again, or delete them";
const REMEDIES: Readonly<Record<QuotaName, string>> = {
  rooms: "delete rooms",
  users: "delete users",
  identities: "delete identities",
  groups: "delete groups",
  group_members: "delete groups, or take identities out of them",
  access_entries: "remove groups and identities from the access of rooms",
  links: "revoke links of rooms",
  guests: "revoke links of rooms, which ends their guests",
  webhooks: "delete webhooks",
  workflows: "delete workflows",
  members: "remove members",
  invitations: "withdraw invitations, or wait until they are accepted or expire",
  api_keys: "revoke API keys",
  file_bytes: "delete files",
  store_bytes: "delete entries of stores, or documents",
  online_users: "wait until others leave",
  waiting_events: WORK_OFF,
  waiting_bytes: WORK_OFF,
  requests_per_second: "wait and retry",
};

/** The text of a refusal: the quota, its use and its limit, then the remedy. */
export const describeExceeded = ({ quota, used, limit }: QuotaUse): string =>
  `The quota ${quota} is exceeded: ${used} of ${limit} are used; ${REMEDIES[quota]}, or ask the service's operator for a higher limit`;
