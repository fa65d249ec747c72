/**
 * Makes POST requests safe to retry: the receipt of an Idempotency-Key is written in the batch of the work, so
 * both or neither exist. The database lets one of two concurrent requests through (docs/decisions/0010).
 */

import { AppError, type Module } from "@atrium/contract/errors.ts";
import { concatBytes, sha256 } from "../../platform/crypto/encoding.ts";
import type { Actor, OperationContext, RequestContext } from "../../platform/d1/context.ts";
import { type Database, type Results, type Statement, violatedConstraint } from "../../platform/d1/d1.ts";
import { deleteExpiredReceipt, insertReceipt, selectReceipt } from "./store.ts";

/** The identity of a request and its retries: the sender and the content. */
const fingerprint = (method: string, pathAndQuery: string, body: Uint8Array): Promise<string> => {
  const head = new TextEncoder().encode(`${method} ${pathAndQuery}\n`);
  return sha256(concatBytes(head, body));
};

/**
 * Users, members and narrowed API keys replay only their own requests. Other keys share theirs, so that a key can be
 * replaced meanwhile.
 * Null for a caller without a credential who has shown no secret.
 */
async function scopeOf(actor: Actor, accountId: string, secret: string | undefined): Promise<string | null> {
  if (actor.type === "user") return `${accountId}:${actor.userId}`;
  if (actor.type === "identity") return `${accountId}:${actor.identityId}`;
  if (actor.type === "person") return `${accountId}:${actor.personId}`;
  if (actor.type === "key") return actor.narrowed ? `${accountId}:${actor.keyId}` : accountId;
  return secret === undefined ? null : `${accountId}:${await sha256(new TextEncoder().encode(secret))}`;
}

export const RECEIPT_LIFETIME_MS = 24 * 60 * 60 * 1000;

const KEY = /^[\x21-\x7e]{1,255}$/;

interface ReceiptOptions<C extends RequestContext> {
  readonly actor: Actor;
  readonly accountId: string;
  /** Secret in the request that identifies a caller without a credential. */
  readonly secret: string | undefined;
  readonly db: Database;
  readonly module: Module;
  /** Whether the work is done in the directory. */
  readonly inDirectory: boolean;
  readonly replay?: Replay<C> | undefined;
  content(): Promise<Uint8Array>;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The request's receipt, or null when it carries no Idempotency-Key; BAD_REQUEST when the key is malformed. */
export async function openReceipt<C extends RequestContext>(
  request: Request,
  options: ReceiptOptions<C>,
): Promise<Receipt<C> | null> {
  const key = request.headers.get("Idempotency-Key");
  const scope = await scopeOf(options.actor, options.accountId, options.secret);
  if (key === null || scope === null) return null;
  if (!KEY.test(key)) {
    const message = "Idempotency-Key must be 1 to 255 visible ASCII characters";
    throw new AppError(options.module, "BAD_REQUEST", message);
  }
  return new Receipt(key, scope, request, options);
}

interface ReplayableResult {
  readonly data: object;
  readonly replayed: boolean;
}

export class Receipt<C extends RequestContext> {
  readonly key: string;
  readonly #request: Request;
  readonly #options: ReceiptOptions<C>;
  readonly #scope: string;
  #isWritten = false;

  constructor(key: string, scope: string, request: Request, options: ReceiptOptions<C>) {
    this.key = key;
    this.#request = request;
    this.#options = options;
    this.#scope = scope;
  }

  /** Runs a command's statements and writes the receipt with the response's `data` in the same batch. */
  async commit<const T extends readonly [Statement, ...Statement[]]>(
    statements: T,
    data: object,
  ): Promise<Results<T>> {
    this.#isWritten = true;
    const [, , ...results] = await this.#options.db.run([...(await this.#statements(data)), ...statements]);
    return results as unknown as Results<T>;
  }

  /** Does the work of the request, unless an earlier or concurrent request with this key has done it. */
  async runOnce(ctx: C, work: () => Promise<object>): Promise<ReplayableResult> {
    const earlier = await this.#find(ctx);
    if (earlier !== null) return { data: earlier, replayed: true };
    try {
      const data = await work();
      if (!this.#isWritten) await this.#options.db.run(await this.#statements(data));
      return { data, replayed: false };
    } catch (error) {
      const lostRace = violatedConstraint(error)?.startsWith("unique:receipts.") ?? false;
      const first = lostRace ? await this.#find(ctx) : null;
      if (first === null) throw error;
      return { data: first, replayed: true };
    }
  }

  /** The first response's `data` when the work was done before, else null. CONFLICT when it was other work. */
  async #find(ctx: C): Promise<object | null> {
    const { db, module, replay = KEEP_ALL } = this.#options;
    const [[row]] = await db.run([selectReceipt(this.#scope, this.key)]);
    if (row === undefined || row.createdAt <= this.#expiry) return null;
    const refuse = (why: string) => new AppError(module, "CONFLICT", why);
    if (row.fingerprint !== (await this.#fingerprint()))
      throw refuse("This Idempotency-Key was used for another request");
    if (row.data === null)
      throw refuse(
        "This request was already completed; its response contained a secret that is shown only once",
      );
    const restored = await replay.restore(ctx, JSON.parse(row.data) as object, this.#options.secret);
    if (restored === null)
      throw refuse(
        "This request was already completed, and the access that it gave has ended or was deleted since; send it with another Idempotency-Key",
      );
    return restored;
  }

  async #statements(data: object): Promise<readonly [Statement, Statement]> {
    const { now, inDirectory, replay = KEEP_ALL } = this.#options;
    const kept = replay.keep(data);
    const row = {
      scope: this.#scope,
      key: this.key,
      fingerprint: await this.#fingerprint(),
      data: kept && JSON.stringify(kept),
      createdAt: now,
      inDirectory: Number(inDirectory),
    };
    return [deleteExpiredReceipt(this.#scope, this.key, this.#expiry), insertReceipt(row)];
  }

  get #expiry(): number {
    return this.#options.now - RECEIPT_LIFETIME_MS;
  }

  async #fingerprint(): Promise<string> {
    const url = new URL(this.#request.url);
    return fingerprint(this.#request.method, url.pathname + url.search, await this.#options.content());
  }
}

/**
 * The context of a command that consists of other commands. Their batches have no receipt: it keeps the data of
 * the whole, and is written last.
 */
export const composed = <C extends OperationContext>(ctx: C): C => ({
  ...ctx,
  commit: (statements, _, resourceId) => ctx.commit(statements, undefined, resourceId),
});

export interface Replay<C extends RequestContext = RequestContext> {
  keep(data: object): object | null;
  /**
   * `data` as it was, with what {@link Replay.keep} left out derived again; null when that would be a token that no one
   * accepts any more. `secret` is that of {@link Replay.secretIn}.
   */
  restore(ctx: C, kept: object, secret: string | undefined): Promise<object | null>;
  /**
   * The secret in the body, for endpoints without a credential: the answer is replayed only to a caller who has
   * it.
   */
  secretIn?(body: unknown): string;
}

const KEEP_ALL: Replay = { keep: (data) => data, restore: async (_, kept) => kept };

/** Replay of responses with a one-time secret. It is never shown again, so a retry returns CONFLICT. */
export const SHOWN_ONCE: Replay = { keep: () => null, restore: async (_, kept) => kept };
