/** Records an audited request in the batch of its changes. */

import { cut } from "@atrium/contract/text.ts";
import type { RequestContext } from "../../platform/d1/context.ts";
import type { Results, Statement } from "../../platform/d1/d1.ts";
import { shortAddress } from "../../platform/network.ts";
import { dropIfUnchanged, insertAuditEntry } from "./store.ts";
import type { AuditRow, ErasedAuditRule } from "./table.ts";

interface Audited {
  readonly method: string;
  readonly operation: string;
  readonly database?: "directory";
  readonly audit?: ErasedAuditRule;
}

const MAX_VALUE_CHARS = 255;

/** The rule's details and the body's fields; values only of those that are shown. */
function changesOf(
  method: string,
  { detail, shows = [] }: ErasedAuditRule,
  input: { readonly body: unknown },
): string {
  const { body } = input;
  const details = detail?.(input) ?? {};
  if (method === "DELETE" || typeof body !== "object" || body === null) return JSON.stringify(details);
  const noted = ([name, value]: [string, unknown]): [string, unknown] => {
    if (!shows.includes(name)) return [name, null];
    return [name, typeof value === "string" ? cut(value, MAX_VALUE_CHARS) : (value ?? null)];
  };
  return JSON.stringify({ ...Object.fromEntries(Object.entries(body).map(noted)), ...details });
}

export class AuditRecorder<C extends RequestContext> {
  readonly ctx: C;
  readonly #inner: C;
  readonly #rule: ErasedAuditRule;
  readonly #entry: Omit<AuditRow, "id">;
  readonly #inDirectory: boolean;
  #hasCommitted = false;
  #isRecorded = false;

  private constructor(inner: C, rule: ErasedAuditRule, entry: Omit<AuditRow, "id">, inDirectory: boolean) {
    this.#inDirectory = inDirectory;
    this.#inner = inner;
    this.#rule = rule;
    this.#entry = entry;
    this.ctx = {
      ...inner,
      commit: (statements, data, resourceId) => this.#commit(statements, data, resourceId),
    };
  }

  /** Null for a change that is not audited, or by a room's user. */
  static for<C extends RequestContext>(
    { method, operation, database, audit }: Audited,
    ctx: C,
    input: { readonly body: unknown },
  ): AuditRecorder<C> | null {
    const { actor } = ctx;
    if (audit === undefined || (actor.type !== "person" && actor.type !== "key")) return null;
    const entry = {
      at: ctx.now(),
      actorType: actor.type,
      actorId: actor.type === "person" ? actor.personId : actor.keyId,
      actorName: actor.name,
      operation,
      resource: audit.resource,
      resourceId: audit.id?.(input) ?? null,
      changes: changesOf(method, audit, input),
      address: shortAddress(ctx.address),
      requestId: ctx.requestId,
    };
    return new AuditRecorder(ctx, audit, entry, database === "directory");
  }

  /** Records a change that was not committed in D1, such as one of an object, once it is made. */
  async finish(data: object): Promise<void> {
    if (!this.#hasCommitted && !this.#rule.onlyCommitted)
      await this.#inner.db.run([this.#insert(this.#inner.newId(), data)]);
  }

  #insert(id: string, data: object | undefined, resourceId?: string): Statement {
    const created = data === undefined ? undefined : this.#rule.created?.(data);
    const entry = {
      ...this.#entry,
      id,
      resourceId: created ?? resourceId ?? this.#entry.resourceId,
    };
    return insertAuditEntry(this.#inner.accountId, entry, this.#inDirectory);
  }

  /** Commits with an entry, which is dropped when the statements change nothing. */
  async #commit<const T extends readonly [Statement, ...Statement[]]>(
    statements: T,
    data?: object,
    resourceId?: string,
  ): Promise<Results<T>> {
    if (this.#isRecorded) return this.#inner.commit(statements, data);
    this.#hasCommitted = true;
    const id = this.#inner.newId();
    const [, ...results] = await this.#inner.commit(
      [this.#insert(id, data, resourceId), ...statements, dropIfUnchanged(id)],
      data,
    );
    this.#isRecorded = results.pop()?.length === 0;
    return results as unknown as Results<T>;
  }
}
