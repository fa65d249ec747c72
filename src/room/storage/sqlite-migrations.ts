/** Brings the SQLite database of a room that an earlier version wrote to the present schema. */
import type { Migration } from "../../platform/objects/object-tables.ts";
import { MAX_CATCH_UP_BYTES } from "../protocol/limits.ts";

/** In the order of their versions. */
export const MIGRATIONS: readonly Migration[] = [
  {
    // The log kept every change, and a request's receipt in the row of its last one.
    version: 2,
    table: "changes",
    before: "ALTER TABLE changes RENAME TO changes_1; DROP INDEX IF EXISTS changes_receipt;",
    after: `
      INSERT INTO receipts (user_id, request_id, number, total, at, fingerprint, answer)
      SELECT CASE WHEN user_id = '' AND fingerprint = '' THEN 'room' ELSE user_id END, request_id,
        row_number() OVER (PARTITION BY user_id, fingerprint = '' ORDER BY seq),
        sum(length(answer)) OVER (PARTITION BY user_id, fingerprint = '' ORDER BY seq),
        at, fingerprint, answer
      FROM changes_1 WHERE request_id IS NOT NULL ORDER BY seq;

      INSERT INTO changes (seq, at, event, data, size, store, key)
      SELECT seq, at, event, data, length(CAST(data AS BLOB)),
        CASE event WHEN 'storeChanged' THEN json_extract(data, '$.store') END,
        CASE event WHEN 'storeChanged' THEN json_extract(data, '$.key') END
      FROM changes_1 WHERE seq IN (
        SELECT max(seq) FROM changes_1 GROUP BY CASE event
          WHEN 'storeChanged' THEN json_array(json_extract(data, '$.store'), json_extract(data, '$.key'))
          ELSE seq END
      );

      INSERT OR REPLACE INTO change_totals
      SELECT 1, max(
        (SELECT ifnull(min(seq), 1) - 1 FROM changes_1),
        (SELECT ifnull(max(seq), 0) FROM (SELECT seq, sum(size) OVER (ORDER BY seq DESC) AS total FROM changes)
          WHERE total > ${MAX_CATCH_UP_BYTES} AND seq < (SELECT max(seq) FROM changes))
      ), 0, 0;
      DELETE FROM changes WHERE seq <= (SELECT dropped_seq FROM change_totals);
      UPDATE change_totals SET
        changes = (SELECT count(*) FROM changes),
        bytes = (SELECT ifnull(sum(size), 0) FROM changes);
      DROP TABLE changes_1;`,
  },
  {
    // The stores were counted, and their sizes added, when a new one was written.
    version: 3,
    table: "stores",
    before: "",
    after: "INSERT OR REPLACE INTO store_totals SELECT 1, count(*), ifnull(sum(bytes), 0) FROM stores;",
  },
  {
    // Comments were counted one by one when a new one was written, and their bytes were not.
    version: 4,
    table: "comments",
    before: "",
    after: `INSERT OR REPLACE INTO comment_totals
      SELECT 1, count(*), ifnull(sum(length(CAST(comment AS BLOB))), 0) FROM comments;`,
  },
  {
    // What the organization wrote in documents had no more of its author. The rows stay as they are.
    version: 5,
    table: "document_updates",
    before: "ALTER TABLE document_updates ADD COLUMN acting TEXT;",
    after: "",
  },
  {
    // Who was online without a socket showed nothing that outlasted hibernation.
    version: 6,
    table: "graces",
    before: "ALTER TABLE graces RENAME TO graces_4;",
    after: `
      INSERT INTO graces (user_id, ends_at, left_at) SELECT user_id, ends_at, left_at FROM graces_4;
      DROP TABLE graces_4;`,
  },
  {
    // What was written in documents stayed apart for each author for ever. The rows stay as they are.
    version: 7,
    table: "document_updates",
    before: "ALTER TABLE document_updates ADD COLUMN authors TEXT;",
    after: "",
  },
  {
    // What an event follows from was not known. The rows stay as they are.
    version: 8,
    table: "events",
    before: "ALTER TABLE events ADD COLUMN trace TEXT;",
    after: "",
  },
  {
    // Receipts had two indexes. The last column is for version 8, which finds no expired receipts without it.
    version: 9,
    table: "receipts",
    before: "ALTER TABLE receipts RENAME TO receipts_8;",
    after: `
      INSERT INTO receipts (user_id, request_id, number, total, at, fingerprint, answer)
      SELECT user_id, request_id, number, total, at, fingerprint, answer FROM receipts_8;
      DROP TABLE receipts_8;`,
  },
];
