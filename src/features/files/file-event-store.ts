/** The statement that writes a file's event in the batch of the change itself. */
import { type EventEntry, insertEvent, rowAsJson } from "../../delivery/outbox/event-store.ts";
import type { OutboxEventRow } from "../../delivery/outbox/table.ts";
import type { Statement, Tenant } from "../../platform/d1/d1.ts";
import type { EventCause } from "../../wire/events.ts";
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

const { sql: FILE_JSON } = rowAsJson(files, "files");

/** Runs after the statement that shows the file, and before the one that hides it. */
export const insertFileEvent = (
  tenant: Tenant,
  entry: EventEntry,
  { key, userId, origin, uploadedBy, cause }: FileChange,
): Statement<OutboxEventRow> =>
  insertEvent(tenant, entry, {
    from: "files JOIN rooms ON rooms.account_id = files.account_id AND rooms.id = files.room_id",
    where: {
      sql: `files.account_id = ? AND files.key = ? AND files.state = 'stored' AND files.uploaded_by = coalesce(?, files.uploaded_by)`,
      params: [tenant.accountId, key, uploadedBy],
    },
    room: rowAsJson(rooms, "rooms"),
    subject: {
      sql: `json_set(${FILE_JSON}, '$.origin', ?, '$.by', ?, '$.cause', json(?))`,
      params: [origin, userId, JSON.stringify(cause)],
    },
    ...(cause !== null ? { subscribers: "webhook" } : {}),
  });
