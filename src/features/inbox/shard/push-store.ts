/** The browsers to which the notifications of an inbox are pushed. */

import type { IdentityEpochs } from "../recipients/store.ts";
import type { InboxStore } from "./inbox-store.ts";

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

const LATEST_FIRST = "ORDER BY created_at DESC, endpoint";

const textOf = ({ publicKey, epochs }: PushTerms): string =>
  JSON.stringify([publicKey, epochs.account, epochs.identity]);

export class PushTargets {
  readonly #inbox: InboxStore;

  constructor(inbox: InboxStore) {
    this.#inbox = inbox;
  }

  #read<Row extends object>(columns: string, order: string): Row[] {
    const { tables, identityId } = this.#inbox;
    return tables.read(`SELECT ${columns} FROM push_targets WHERE identity_id = ? ${order}`, identityId);
  }

  get exist(): boolean {
    return this.#read("1", "LIMIT 1").length > 0;
  }

  /** Replaces the one with the same endpoint. Beyond 20, the oldest gives way. False when the identity was deleted. */
  add({ endpoint, p256dh, auth, origin, createdAt, expiresAt }: PushTarget, terms: PushTerms): boolean {
    const { tables, identityId } = this.#inbox;
    return tables.transaction(() => {
      if (!this.#inbox.open()) return false;
      tables.write(
        "INSERT OR REPLACE INTO push_targets VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ...[identityId, endpoint, p256dh, auth, origin, createdAt, expiresAt, textOf(terms)],
      );
      const old = this.all.slice(MAX_TARGETS);
      for (const target of old) this.remove(target.endpoint);
      return true;
    });
  }

  remove(endpoint: string): void {
    const { tables, identityId } = this.#inbox;
    tables.write("DELETE FROM push_targets WHERE identity_id = ? AND endpoint = ?", identityId, endpoint);
  }

  /** The latest first. */
  get all(): PushTarget[] {
    return this.#read(COLUMNS, LATEST_FIRST);
  }

  /** The subscriptions that hold at `now` (epoch ms), the latest first. Ended subscriptions are deleted. */
  list(terms: PushTerms, now: number): PushTarget[] {
    const { tables, identityId } = this.#inbox;
    const { publicKey, epochs } = terms;
    // Since these terms were read, a browser may have subscribed under later ones.
    tables.write(
      `DELETE FROM push_targets WHERE identity_id = ?
         AND (terms ->> 0 <> ? OR terms ->> 1 < ? OR terms ->> 2 < ? OR expires_at <= ?)`,
      ...[identityId, publicKey, epochs.account, epochs.identity, now],
    );
    const query = `SELECT ${COLUMNS} FROM push_targets WHERE identity_id = ? AND terms = ? ${LATEST_FIRST}`;
    return tables.read(query, identityId, textOf(terms));
  }
}
