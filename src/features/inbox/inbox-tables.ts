/** The tables of an inbox. */
import { FACTS, type Schema } from "../../platform/objects/object-tables.ts";

/** An item is shown while `seq` is above `deleted_seq`, and unread while it is above `read_seq`, which is never lower. */
export const SCHEMA: Schema = {
  tables: {
    ...FACTS,
    items: `CREATE TABLE IF NOT EXISTS items (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL,
      room_id TEXT NOT NULL,
      subject_id TEXT NOT NULL,
      seq INTEGER NOT NULL,
      read_seq INTEGER NOT NULL,
      deleted_seq INTEGER NOT NULL,
      notified_at INTEGER NOT NULL,
      read_at INTEGER,
      UNIQUE (room_id, kind, subject_id)
    );
    CREATE INDEX IF NOT EXISTS items_newest ON items (notified_at DESC, id DESC);
    CREATE INDEX IF NOT EXISTS items_unread ON items (room_id, notified_at) WHERE seq > read_seq;`,
    // Of activities that are not shown any more, the ID stays: it must have no second effect.
    activities: `CREATE TABLE IF NOT EXISTS activities (
      id TEXT PRIMARY KEY,
      item INTEGER,
      seq INTEGER NOT NULL,
      at INTEGER NOT NULL,
      created_by TEXT,
      data TEXT
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS activities_of_item ON activities (item, seq) WHERE item IS NOT NULL;
    CREATE INDEX IF NOT EXISTS activities_forgotten ON activities (at) WHERE item IS NULL;`,
    // An item waits for a channel from its first unread activity on until it is read.
    waiting: `CREATE TABLE IF NOT EXISTS waiting (
        channel TEXT NOT NULL,
        item INTEGER NOT NULL,
        due INTEGER NOT NULL,
        PRIMARY KEY (channel, item)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS waiting_item ON waiting (item);
      CREATE TRIGGER IF NOT EXISTS waiting_read AFTER UPDATE ON items WHEN new.read_seq >= new.seq
      BEGIN DELETE FROM waiting WHERE item = new.number; END;
      CREATE TRIGGER IF NOT EXISTS waiting_deleted AFTER DELETE ON items
      BEGIN DELETE FROM waiting WHERE item = old.number; END;`,
    sendings: `CREATE TABLE IF NOT EXISTS sendings (
        id TEXT PRIMARY KEY,
        channel TEXT NOT NULL,
        at INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        due INTEGER,
        failures INTEGER NOT NULL DEFAULT 0,
        items TEXT NOT NULL
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS sendings_newest ON sendings (at DESC, id DESC);`,
    push_targets: `CREATE TABLE IF NOT EXISTS push_targets (
        endpoint TEXT PRIMARY KEY,
        p256dh TEXT NOT NULL,
        auth TEXT NOT NULL,
        origin TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER,
        terms TEXT NOT NULL
      ) WITHOUT ROWID;`,
    // The push services that have taken a sending, while it is repeated for others.
    push_reached: `CREATE TABLE IF NOT EXISTS push_reached (
        sending TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        PRIMARY KEY (sending, endpoint)
      ) WITHOUT ROWID;
      CREATE TRIGGER IF NOT EXISTS push_reached_ended AFTER UPDATE OF due ON sendings WHEN new.due IS NULL
      BEGIN DELETE FROM push_reached WHERE sending = new.id; END;`,
  },
  migrations: [],
};

/** The columns of an item as its fields. */
export const COLUMNS = `number, id, kind, room_id AS roomId, subject_id AS subjectId, seq, read_seq AS readSeq,
  deleted_seq AS deletedSeq, notified_at AS notifiedAt, read_at AS readAt`;
