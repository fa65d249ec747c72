/** The statement that writes a file's event in the batch of the change itself. */

import type { EventCause } from "@atrium/contract/resources/present-event.ts";
import { sql } from "drizzle-orm";
import { type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import { rooms } from "../rooms/table.ts";
import { files } from "./storage/table.ts";

interface FileChange {
  readonly key: string;
  readonly userId: string | null;
  readonly origin: string;
  readonly uploadedBy: string | null;
  /** A change by a run is for webhooks and starts no workflow. */
  readonly cause: EventCause | null;
}

const FILE_JSON = rowAsJson(files, "files");

/** Runs after the statement that shows the file, and before the one that hides it. */
export const insertFileEvent = (
  tenant: Tenant,
  entry: EventEntry,
  { key, userId, origin, uploadedBy, cause }: FileChange,
): Statement<OutboxEventRow> =>
  insertEvent(tenant, entry, {
    from: sql`files JOIN rooms ON rooms.account_id = files.account_id AND rooms.id = files.room_id`,
    where: sql`files.account_id = ${tenant.accountId} AND files.key = ${key} AND files.state = 'stored'
        AND files.uploaded_by = coalesce(${uploadedBy}, files.uploaded_by)`,
    room: rowAsJson(rooms, "rooms"),
    subject: sql`json_set(${FILE_JSON}, '$.origin', ${origin}, '$.by', ${userId}, '$.cause',
        json(${JSON.stringify(cause)}))`,
    ...(cause !== null ? { subscribers: "webhook" } : {}),
  });
