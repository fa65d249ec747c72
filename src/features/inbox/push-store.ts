/** The browsers to which the notifications of an inbox are pushed. */
import type { ObjectTables } from "../../platform/objects/object-tables.ts";
import type { IdentityEpochs } from "./store.ts";

/** A browser's subscription, and the terms under which it was made. */
export interface PushTarget {
  readonly endpoint: string;
  /** The browser's public key and secret, as Base64url. */
  readonly p256dh: string;
  readonly auth: string;
  /** The origin of this service when the browser subscribed. */
  readonly origin: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** A subscription holds while the deployment has the same key, and the identity the same epochs of tokens. */
export interface PushTerms {
  readonly publicKey: string;
  readonly epochs: IdentityEpochs;
}

const MAX_TARGETS = 20;
const COLUMNS = "endpoint, p256dh, auth, origin, created_at AS createdAt, expires_at AS expiresAt";

const textOf = ({ publicKey, epochs }: PushTerms): string =>
  JSON.stringify([publicKey, epochs.account, epochs.identity]);

export class PushTargets {
  readonly #store: ObjectTables;

  constructor(store: ObjectTables) {
    this.#store = store;
  }

  get exist(): boolean {
    return this.#store.first("SELECT 1 FROM push_targets LIMIT 1") !== null;
  }

  /** Replaces the one with the same endpoint. Beyond 20, the oldest gives way. */
  add({ endpoint, p256dh, auth, origin, createdAt, expiresAt }: PushTarget, terms: PushTerms): void {
    this.#store.transaction(() => {
      this.#store.create();
      this.#store.write(
        "INSERT OR REPLACE INTO push_targets VALUES (?, ?, ?, ?, ?, ?, ?)",
        ...[endpoint, p256dh, auth, origin, createdAt, expiresAt, textOf(terms)],
      );
      const old = `SELECT endpoint FROM push_targets ORDER BY created_at DESC, endpoint LIMIT -1 OFFSET ${MAX_TARGETS}`;
      this.#store.write(`DELETE FROM push_targets WHERE endpoint IN (${old})`);
    });
  }

  remove(endpoint: string): void {
    this.#store.write("DELETE FROM push_targets WHERE endpoint = ?", endpoint);
  }

  /** The latest first. */
  get all(): PushTarget[] {
    return this.#store.read(`SELECT ${COLUMNS} FROM push_targets ORDER BY created_at DESC, endpoint`);
  }

  /** The subscriptions that hold at `now` (epoch ms), the latest first. All others are deleted. */
  list(terms: PushTerms, now: number): PushTarget[] {
    const ended = "DELETE FROM push_targets WHERE terms <> ? OR expires_at <= ?";
    this.#store.write(ended, textOf(terms), now);
    return this.all;
  }

  /** The endpoints that have taken a sending which is to be repeated for others. */
  reached(sendingId: string): ReadonlySet<string> {
    const query = "SELECT endpoint FROM push_reached WHERE sending = ?";
    return new Set(this.#store.read<{ endpoint: string }>(query, sendingId).map(({ endpoint }) => endpoint));
  }

  /** Remembers endpoints for {@link reached}, until the sending has ended. */
  keepReached(sendingId: string, endpoints: readonly string[]): void {
    const query = "INSERT OR IGNORE INTO push_reached SELECT ?, value FROM json_each(?)";
    this.#store.write(query, sendingId, JSON.stringify(endpoints));
  }
}
