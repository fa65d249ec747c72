/**
 * Retried creations: an Idempotency-Key leaves a receipt in the very batch that does the work, so the two exist
 * together or not at all, and of two at once the database lets one through (docs/decisions/0010).
 */
import type { Actor } from "../../context/actor.ts";
import type { RequestContext } from "../../context/context.ts";
import { type Database, type Results, type Statement, violatedConstraint } from "../../platform/d1.ts";
import type { Module } from "../../platform/error-codes.ts";
import { AppError } from "../../platform/errors.ts";
import { sha256 } from "../../platform/hash.ts";
import { KEEP_ALL, type Replay } from "./replay.ts";
import { deleteExpiredReceipt, insertReceipt, type ReceiptRow, selectReceipt } from "./store.ts";

/** How long a first answer is replayed. */
export const RECEIPT_LIFETIME_MS = 24 * 60 * 60 * 1000;

const KEY = /^[\x21-\x7e]{1,255}$/;

/** A retryable request under its key, before and after the work. */
export interface Receipt<C extends RequestContext> {
  readonly key: string;
  /** The first answer's `data` when the work was done before, else null. CONFLICT when it was other work. */
  replay(ctx: C): Promise<object | null>;
  /** What a batch must hold so that the work and its receipt become true together. */
  statements(data: object): Promise<readonly [Statement, Statement]>;
  /** True when a batch failed because another request with this key was faster. */
  isRaceLost(error: unknown): boolean;
}

const fingerprint = (method: string, pathAndQuery: string, body: Uint8Array): Promise<string> => {
  const head = new TextEncoder().encode(`${method} ${pathAndQuery}\n`);
  const bytes = new Uint8Array(head.byteLength + body.byteLength);
  bytes.set(head);
  bytes.set(body, head.byteLength);
  return sha256(bytes);
};

/** True when a retry of the request is to be recognised. */
export const hasIdempotencyKey = (request: Request): boolean => request.headers.has("Idempotency-Key");

/** A user's and a member's answers are their own; a key's stay when the organization changes it between two tries. */
function scopeOf(actor: Actor): string {
  if (actor.type === "user") return `${actor.accountId}:${actor.userId}`;
  if (actor.type === "person") return `${actor.accountId}:${actor.personId}`;
  return actor.type === "key" ? actor.accountId : "";
}

/**
 * The request's receipt, or null when it carries no Idempotency-Key; BAD_REQUEST when that is malformed.
 * `content` is what must be the same in a retry; it is asked for when that matters, and may come late.
 */
export function openReceipt<C extends RequestContext>(
  request: Request,
  content: () => Promise<Uint8Array>,
  options: {
    readonly actor: Actor;
    readonly db: Database;
    readonly module: Module;
    readonly replay?: Replay<C>;
    readonly now: number;
  },
): Receipt<C> | null {
  const { actor, db, module, now } = options;
  const key = request.headers.get("Idempotency-Key");
  if (key === null || actor.type === "anyone") return null;
  if (!KEY.test(key)) {
    throw new AppError(module, "BAD_REQUEST", "Idempotency-Key must be 1 to 255 visible ASCII characters");
  }
  const url = new URL(request.url);
  const scope = scopeOf(actor);
  const expiry = now - RECEIPT_LIFETIME_MS;
  const takePrint = async () => fingerprint(request.method, url.pathname + url.search, await content());
  const { keep, restore } = options.replay ?? KEEP_ALL;

  const refuse = (why: string) => new AppError(module, "CONFLICT", why);
  const open = async (row: ReceiptRow): Promise<object> => {
    if (row.fingerprint !== (await takePrint()))
      throw refuse("This Idempotency-Key was used for another request");
    if (row.data === null)
      throw refuse("This was done already; its answer held a secret that is shown only once");
    return JSON.parse(row.data) as object;
  };

  return {
    key,
    async replay(ctx) {
      const [[row]] = await db.run([selectReceipt(scope, key)]);
      return row === undefined || row.createdAt <= expiry ? null : restore(ctx, await open(row));
    },
    async statements(data) {
      const kept = keep(data);
      const print = await takePrint();
      const row = { scope, key, fingerprint: print, data: kept && JSON.stringify(kept), createdAt: now };
      return [deleteExpiredReceipt(scope, key, expiry), insertReceipt(row)];
    },
    isRaceLost: (error) => violatedConstraint(error)?.startsWith("unique:receipts.") ?? false,
  };
}

/** The work's data, and whether it is that of an earlier request. */
export interface ReplayableResult {
  readonly data: object;
  readonly replayed: boolean;
}

/** Does the work of a request under its key, unless it was done before or is done meanwhile by another. */
export async function runOnce<C extends RequestContext>(
  receipt: Receipt<C>,
  ctx: C,
  work: (ctx: C) => Promise<object>,
): Promise<ReplayableResult> {
  const earlier = await receipt.replay(ctx);
  if (earlier !== null) return { data: earlier, replayed: true };
  let left = false;
  const commit: RequestContext["commit"] = async (statements, data) => {
    if (data === undefined) return ctx.commit(statements);
    left = true;
    const [, , ...results] = await ctx.db.run([...(await receipt.statements(data)), ...statements]);
    return results as unknown as Results<typeof statements>;
  };
  try {
    const data = await work({ ...ctx, commit, idempotencyKey: receipt.key });
    if (!left) await ctx.db.run(await receipt.statements(data));
    return { data, replayed: false };
  } catch (error) {
    const first = receipt.isRaceLost(error) ? await receipt.replay(ctx) : null;
    if (first === null) throw error;
    return { data: first, replayed: true };
  }
}
