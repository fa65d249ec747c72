/** The form of a deployment's backup, beside those of its organizations: which these are, and who its people are. */
import * as z from "zod";
import { Manifest } from "./format.ts";

/** Stands in the place of an organization's ID where the whole deployment is meant. */
export const DEPLOYMENT = "deployment";

/** The part that has the people, and the one that names the organizations. */
export const PEOPLE = "people";
export const ORGANIZATIONS = "index of organizations";

/** Signed first: by it, a backup is continued only on the deployment that began it. */
export const Beginning = z.object({ backupId: z.uuid(), startedAt: z.iso.datetime() });
export type Beginning = z.infer<typeof Beginning>;

const ArchivedPerson = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  /** Epoch milliseconds. */
  createdAt: z.int(),
  updatedAt: z.int(),
  /** The hash of the password, encrypted with a key derived from `JWT_SECRET`; null for who has none. */
  password: z.object({ keyId: z.string(), sealed: z.string() }).nullable(),
});

/** People by their IDs, and behind which one the next slice begins; null after the last. */
export const PeopleSlice = z.object({ people: z.array(ArchivedPerson), after: z.string().nullable() });
export type PeopleSlice = z.infer<typeof PeopleSlice>;

/** What makes a deployment's backup complete. Each of its organizations has a manifest of its own. */
export const DeploymentManifest = Manifest.pick({
  ...{ format: true, schema: true, backupId: true, startedAt: true, finishedAt: true, parts: true },
}).extend({ organizations: z.int(), people: z.int() });
export type DeploymentManifest = z.infer<typeof DeploymentManifest>;

/** An organization of the deployment, as the command reads it. */
export interface ListedOrganization {
  readonly id: string;
  readonly name: string;
  /** It is there already, and closed until its restore is complete. */
  readonly isBeingRestored: boolean;
}

export interface OrganizationPage {
  readonly organizations: readonly ListedOrganization[];
  /** Behind which one the next page begins; null after the last. */
  readonly after: string | null;
}
