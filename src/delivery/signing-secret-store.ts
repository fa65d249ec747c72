/** The only SQL about stored signing secrets as such: those that are not encrypted with the current key. */
import { FENCED, type Statement } from "../platform/d1/d1.ts";
import type { SubscriberKey } from "./port/subscriber.ts";

/** Both as they are stored. */
export interface StoredSecrets {
  readonly accountId: string;
  readonly id: string;
  readonly current: string | null;
  readonly previous: string | null;
}

interface Columns {
  readonly table: string;
  readonly current: string;
  readonly previous: string;
}

const COLUMNS: Readonly<Record<SubscriberKey["kind"], Columns>> = {
  webhook: { table: "webhooks", current: "secret", previous: "previous_secret" },
  workflow: { table: "workflows", current: "trigger_secret", previous: "previous_trigger_secret" },
};

/** Texts from the first of two on, and before the second one. */
export type TextRange = readonly [from: string, before: string];

/** Some subscribers, of organizations that are not {@link FENCED}, with a secret in one of these ranges. Indexes find them. */
export function selectSecretsWithin(
  kind: SubscriberKey["kind"],
  ranges: readonly TextRange[],
  limit: number,
): Statement<StoredSecrets> {
  const { table, current, previous } = COLUMNS[kind];
  const isWithin = [current, previous].flatMap((column) =>
    ranges.map(() => `(${column} >= ? AND ${column} < ?)`),
  );
  return {
    sql: `SELECT account_id AS accountId, id, ${current} AS current, ${previous} AS previous FROM ${table}
          WHERE (${isWithin.join(" OR ")}) AND account_id NOT IN ${FENCED} LIMIT ?`,
    params: [...ranges.flat(), ...ranges.flat(), limit],
  };
}

/** Stores secrets in another form, unless they were replaced meanwhile. They are the same, so the row's version stays. */
export function replaceStoredSecrets(
  kind: SubscriberKey["kind"],
  before: StoredSecrets,
  after: Pick<StoredSecrets, "current" | "previous">,
): Statement {
  const { table, current, previous } = COLUMNS[kind];
  return {
    sql: `UPDATE ${table} SET ${current} = ?, ${previous} = ?
          WHERE account_id = ? AND id = ? AND ${current} IS ? AND ${previous} IS ?`,
    params: [after.current, after.previous, before.accountId, before.id, before.current, before.previous],
  };
}
