/** The quotas of an organization: what is counted, and how much is allowed by default. Pure. */

/** The things that each quota counts, in the words of the API. */
export const COUNTED = {
  rooms: "rooms",
  users: "users of all rooms",
  identities: "identities, without guests",
  groups: "groups of identities",
  group_members: "memberships in groups",
  access_entries: "entries of groups and identities in the access of rooms",
  links: "links of rooms",
  guests: "guests of links",
  webhooks: "webhooks",
  workflows: "workflows",
  members: "members of the organization",
  invitations: "invitations that wait to be accepted",
  api_keys: "API keys",
  file_bytes: "bytes of stored files",
  store_bytes: "bytes of the stores and documents of all rooms",
  online_users: "users who are online in a room",
  waiting_events: "events that wait for webhooks and workflows",
  waiting_bytes: "their bytes",
  requests_per_second: "requests to the API in a second",
} as const;
export type QuotaName = keyof typeof COUNTED;
export const QUOTAS = Object.keys(COUNTED) as [QuotaName, ...QuotaName[]];

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
