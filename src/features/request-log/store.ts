/** The SQLite database of a request log. Empty until the first request. */

import type { LoggedRequest, RequestLogPage, RequestLogQuery } from "@atrium/contract/rest/request-log.ts";
import { FACTS, ObjectTables, type Schema } from "../../platform/objects/object-tables.ts";

/** More than these are never kept: the oldest make room. A page that finds little reads them all. */
const MAX_REQUESTS = 20_000;
/** Deleted at once, which is more than one call appends. */
const PRUNED_AT_ONCE = 1_000;

const SCHEMA: Schema = {
  tables: {
    ...FACTS,
    requests: `CREATE TABLE IF NOT EXISTS requests (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      at INTEGER NOT NULL,
      method TEXT NOT NULL,
      route TEXT NOT NULL,
      operation TEXT NOT NULL,
      status INTEGER NOT NULL,
      duration_ms REAL NOT NULL,
      credential TEXT NOT NULL,
      credential_id TEXT,
      room_id TEXT,
      error_code TEXT,
      error_message TEXT,
      address TEXT,
      weight REAL NOT NULL,
      client_request_id TEXT,
      trace_id TEXT
    );
    CREATE INDEX IF NOT EXISTS requests_failed ON requests (seq) WHERE status >= 400;
    CREATE INDEX IF NOT EXISTS requests_of_clients ON requests (client_request_id) WHERE client_request_id IS NOT NULL;
    CREATE INDEX IF NOT EXISTS requests_of_traces ON requests (trace_id) WHERE trace_id IS NOT NULL;`,
  },
  migrations: [],
};

type Row = LoggedRequest & { readonly seq: number };

const COLUMNS = `seq, id, at, method, route, operation, status, duration_ms AS durationMs, credential,
  credential_id AS credentialId, room_id AS roomId, error_code AS errorCode, error_message AS errorMessage,
  address, weight, client_request_id AS clientRequestId, trace_id AS traceId`;

const FIRST_PAGE = Number.MAX_SAFE_INTEGER;

export class RequestLogStore extends ObjectTables {
  readonly #maxRequests: number;

  /** Tests keep fewer requests. */
  constructor(storage: DurableObjectStorage, maxRequests = MAX_REQUESTS) {
    super(storage, SCHEMA);
    this.#maxRequests = maxRequests;
  }

  /** Appends requests, and lets the oldest make room for them. One that is there already is ignored. */
  append(requests: readonly LoggedRequest[]): void {
    this.transaction(() => {
      this.create();
      for (const each of requests)
        this.write(
          `INSERT OR IGNORE INTO requests (id, at, method, route, operation, status, duration_ms, credential,
             credential_id, room_id, error_code, error_message, address, weight, client_request_id, trace_id)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[each.id, each.at, each.method, each.route, each.operation, each.status, each.durationMs],
          ...[each.credential, each.credentialId, each.roomId, each.errorCode, each.errorMessage],
          ...[each.address, each.weight, each.clientRequestId, each.traceId],
        );
      this.write(
        `DELETE FROM requests WHERE seq IN (
           SELECT seq FROM requests WHERE seq <= (SELECT max(seq) FROM requests) - ? ORDER BY seq LIMIT ?)`,
        this.#maxRequests,
        PRUNED_AT_ONCE,
      );
    });
  }

  /** The requests from `from` (epoch ms) on, the newest first. */
  list(query: RequestLogQuery, from: number): RequestLogPage {
    const { isByMember } = query;
    const rows = this.read<Row>(
      `SELECT ${COLUMNS} FROM requests WHERE seq < ?1 AND at >= ?2 ${query.failedOnly ? "AND status >= 400" : ""}
         ${isByMember === undefined ? "" : `AND credential ${isByMember ? "=" : "<>"} 'member'`}
         AND (?3 IS NULL OR operation = ?3) AND (?4 IS NULL OR credential_id = ?4)
         AND (?5 IS NULL OR room_id = ?5)
       ORDER BY seq DESC LIMIT ?6`,
      ...[query.before ?? FIRST_PAGE, from, query.operation, query.credentialId, query.roomId],
      query.limit + 1,
    );
    const shown = rows.slice(0, query.limit);
    const hasMore = rows.length > shown.length;
    return { requests: shown.map(withoutSeq), before: hasMore ? (shown.at(-1)?.seq ?? null) : null };
  }

  /** The request with this ID, or else the latest to which a client gave it as its own, or as that of its trace. */
  find(id: string, from: number): LoggedRequest | null {
    for (const column of ["id", "client_request_id", "trace_id"]) {
      const query = `SELECT ${COLUMNS} FROM requests WHERE ${column} = ? AND at >= ? ORDER BY seq DESC LIMIT 1`;
      const row = this.first<Row>(query, id, from);
      if (row !== null) return withoutSeq(row);
    }
    return null;
  }

  /** Deletes entries from before `from` (epoch ms). Returns the number that is left. */
  prune(from: number): number {
    this.write("DELETE FROM requests WHERE at < ?", from);
    return this.first<{ total: number }>("SELECT count(*) AS total FROM requests")?.total ?? 0;
  }
}

const withoutSeq = ({ seq: _, ...request }: Row): LoggedRequest => request;
