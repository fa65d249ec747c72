/** What is kept of a person who signs in to the dashboard, as the person exports it. */
import * as z from "zod";
import { MEMBER_ROLES } from "../../../platform/context/actor.ts";
import { Timestamp } from "../../../platform/time.ts";
import { AuditEntry } from "../../audit/schema.ts";

const id = z.uuid();

/** One thing that is kept of a person. No secret is among them: of passwords and cookies, only when they were made. */
export const PersonRecord = z.discriminatedUnion("type", [
  z.object({ type: z.literal("person"), id, name: z.string(), email: z.string(), created_at: Timestamp }),
  z.object({ type: z.literal("password"), created_at: Timestamp, updated_at: Timestamp }),
  z.object({ type: z.literal("sign_in"), id, created_at: Timestamp, expires_at: Timestamp }),
  z.object({
    ...{ type: z.literal("membership"), organization_id: id, organization: z.string() },
    ...{ role: z.enum(MEMBER_ROLES), joined_at: Timestamp },
  }),
  z.object({
    ...{ type: z.literal("invitation"), organization_id: id, id },
    ...{ email: z.string().nullable(), created_at: Timestamp, expires_at: Timestamp },
  }),
  z.object({ type: z.literal("password_link"), created_at: Timestamp, expires_at: Timestamp }),
  z.object({
    ...{ type: z.literal("mail"), organization_id: id.nullable(), topic: z.string() },
    // Its text may have links that are secrets, and is forgotten once it was sent.
    ...{ state: z.enum(["waiting", "done"]), created_at: Timestamp, expires_at: Timestamp },
  }),
  z.object({ type: z.literal("change"), organization_id: id, entry: AuditEntry }),
]);
export type PersonRecord = z.infer<typeof PersonRecord>;

/** Some of what is kept of a person. */
export interface PersonExport {
  readonly records: readonly PersonRecord[];
  /** Goes into `after` of the request for what follows; null at the end. */
  readonly cursor: string | null;
}

/** Body of `POST /dashboard/api/me/export`. */
export const ExportRequest = z.strictObject({ after: z.string().max(1024).nullable() });

/** Body of `POST /dashboard/api/me/delete`. */
export const PersonDeletion = z.strictObject({ password: z.string().max(1024) });
