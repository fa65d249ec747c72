/** The format of backups of an organization and of a deployment: files, and the requests that carry them. */
import * as z from "zod";
import journal from "../../../migrations/meta/_journal.json" with { type: "json" };
import { ArchiveSlice } from "../../platform/objects/archive-slice.ts";

/** Grows when earlier versions of the service could not read the format of this one. */
export const ARCHIVE_FORMAT = 1;
/** The number of D1's latest migration. A restore takes rows of an earlier one, and refuses rows of a later one. */
export const SCHEMA = journal.entries.length - 1;

export const HEADERS = { signature: "Atrium-Signature", fileSize: "Atrium-File-Size" } as const;
/** A file goes in parts of this size, so that no request is larger. */
export const FILE_PART_BYTES = 8 * 1024 * 1024;
export const OBJECTS_AT_ONCE = 20;

const ArchivedOrganization = z.object({
  id: z.uuid(),
  name: z.string(),
  /** Epoch milliseconds. */
  createdAt: z.int(),
  tokenEpoch: z.int(),
});

/** The manifest is written and signed last: a folder without it is incomplete. */
export const Manifest = z.object({
  format: z.int(),
  schema: z.int(),
  backupId: z.uuid(),
  organization: ArchivedOrganization,
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  /** The files of slices: how many each has, and its SHA-256 in hexadecimal. */
  parts: z.array(
    z.object({ name: z.string(), slices: z.int(), bytes: z.int(), sha256: z.string().length(64) }),
  ),
  files: z.object({ count: z.int(), bytes: z.int() }),
});
export type Manifest = z.infer<typeof Manifest>;

const ArchivedRow = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

const Position = z.array(z.union([z.string(), z.number(), z.null()]));

/** Rows of a part; `after` is null on the last slice. */
export const RowSlice = z.object({ rows: z.array(ArchivedRow), after: Position.nullable() });
export type RowSlice = z.infer<typeof RowSlice>;

/** `id` of a log is the number of its shard, of inboxes the digits of theirs. */
export const ObjectRef = z.object({
  kind: z.enum(["room", "webhook", "workflow", "log", "inbox"]),
  id: z.string(),
});
export type ObjectRef = z.infer<typeof ObjectRef>;

/** Slices of objects; `next` names the object of the next request and its cursor, null after the last one. */
export const ObjectSlices = z.object({
  objects: z.array(ObjectRef.extend({ slice: ArchiveSlice })),
  next: z.object({ index: z.int(), after: z.string().nullable() }).nullable(),
});
export type ObjectSlices = z.infer<typeof ObjectSlices>;

export interface BackupPlan {
  readonly organization: Manifest["organization"];
  /** Parts in copying order; {@link OBJECT_PARTS} are among them. */
  readonly parts: readonly {
    readonly name: string;
    /** A row is left out if its `column` is the ID of no row of that part: it was created meanwhile. */
    readonly parents?: readonly { readonly part: string; readonly column: string }[];
  }[];
  readonly shards: number;
}

/** The parts in their order, and the last recorded position. */
export interface RestorePlan {
  readonly parts: readonly string[];
  readonly position: string;
}

const ACCOUNT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** True for the form of an organization's ID, which names rows of tokens, objects and folders. */
export const isAccountId = (text: string): boolean => ACCOUNT_ID.test(text);

/** Parts that are treated apart: three of an organization's backup, and two of a deployment's. */
export const PARTS = {
  objects: "objects",
  inboxes: "inboxes",
  files: "files",
  people: "people",
  organizations: "index of organizations",
} as const;

/** The parts that have slices of objects; inboxes are apart, because they come after the rows of identities. */
export const OBJECT_PARTS = [PARTS.objects, PARTS.inboxes] as const;
export type ObjectPart = (typeof OBJECT_PARTS)[number];

export const isObjectPart = (part: string): part is ObjectPart =>
  (OBJECT_PARTS as readonly string[]).includes(part);

export const DEPLOYMENT = "deployment";

/** Signed first, so that only the deployment that began a backup continues it. */
export const Beginning = z.object({ backupId: z.uuid(), startedAt: z.iso.datetime() });
export type Beginning = z.infer<typeof Beginning>;

const ArchivedPasskey = z.object({
  id: z.string(),
  name: z.string(),
  credentialId: z.string(),
  publicKey: z.string(),
  counter: z.int(),
  transports: z.string(),
  /** Epoch milliseconds. */
  createdAt: z.int(),
  lastUsedAt: z.int().nullable(),
});

const ArchivedPerson = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  /** Epoch milliseconds. */
  createdAt: z.int(),
  updatedAt: z.int(),
  /** The hash of the password, encrypted with a key derived from `JWT_SECRET`; null for who has none. */
  password: z.object({ keyId: z.string(), sealed: z.string() }).nullable(),
  /** Accounts at OpenID Connect providers. */
  providers: z.array(z.object({ issuer: z.string(), subject: z.string() })),
  passkeys: z.array(ArchivedPasskey),
  /** As it is stored, sealed, with the hashes of its recovery codes; null for who has none. */
  secondFactor: z
    .object({
      keyId: z.string(),
      sealed: z.string(),
      lastStep: z.int(),
      createdAt: z.int(),
      codes: z.array(z.string()),
    })
    .nullable()
    .default(null),
});

/** People in the order of their IDs; `after` is null on the last slice. */
export const PeopleSlice = z.object({ people: z.array(ArchivedPerson), after: z.string().nullable() });
export type PeopleSlice = z.infer<typeof PeopleSlice>;

/** The manifest of a deployment; each organization has its own. */
export const DeploymentManifest = Manifest.pick({
  format: true,
  schema: true,
  backupId: true,
  startedAt: true,
  finishedAt: true,
  parts: true,
}).extend({ organizations: z.int(), people: z.int() });
export type DeploymentManifest = z.infer<typeof DeploymentManifest>;

export interface ListedOrganization {
  readonly id: string;
  readonly name: string;
  /** True while an organization is closed because its restore is incomplete. */
  readonly isBeingRestored: boolean;
}

export interface OrganizationPage {
  readonly organizations: readonly ListedOrganization[];
  /** Null on the last page. */
  readonly after: string | null;
}
