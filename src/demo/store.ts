/** The statements about the boards of the demo, and about the identities that belong to them. */
import { type SQL, sql } from "drizzle-orm";
import { type Statement, statement, type Tenant } from "../platform/d1/d1.ts";
import { BOARD_PREFIX, QUICKSTART_PREFIX } from "./boards.ts";

/** The end of a range of custom IDs with a prefix. A range rather than LIKE, which the index of custom IDs does not serve. */
const endOf = (prefix: string): string => `${prefix}\u{10ffff}`;

/** The purpose for which the demo opens a room. */
export type BoardKind = "board" | "quickstart";

const isWithin = (prefix: string): SQL => sql`custom_id >= ${prefix} AND custom_id < ${endOf(prefix)}`;

const areOf = ({ accountId }: Tenant, kind: BoardKind): SQL =>
  kind === "quickstart"
    ? sql`account_id = ${accountId} AND ${isWithin(QUICKSTART_PREFIX)}`
    : sql`account_id = ${accountId} AND ${isWithin(BOARD_PREFIX)} AND NOT (${isWithin(QUICKSTART_PREFIX)})`;

export const countBoards = (tenant: Tenant, kind: BoardKind): Statement<{ total: number }> =>
  statement`SELECT count(*) AS total FROM rooms WHERE ${areOf(tenant, kind)}`;

interface Surplus {
  /** How many empty ones stay. */
  readonly kept: number;
  /** Those that were opened later stay as well. */
  readonly youngFrom: number;
  readonly limit: number;
  readonly now: number;
}

/** Ends the time of empty boards of a kind beyond those that are kept, the oldest first. */
export function expireSurplusBoards(
  tenant: Tenant,
  kind: BoardKind,
  { kept, youngFrom, limit, now }: Surplus,
): Statement {
  const areEmpty = sql`${areOf(tenant, kind)} AND active_participants = 0 AND ends_at > ${now}`;
  return statement`UPDATE rooms SET ends_at = ${now} WHERE account_id = ${tenant.accountId} AND id IN (
    SELECT id FROM rooms WHERE ${areEmpty} AND created_at < ${youngFrom} ORDER BY created_at
    LIMIT max(0, min(${limit}, (SELECT count(*) FROM rooms WHERE ${areEmpty}) - ${kept})))`;
}

/** The identities of visitors and helpers of boards that are gone. */
export const selectLeftIdentities = (
  { accountId }: Tenant,
  limit: number,
): Statement<{ id: string }> => statement`SELECT id FROM identities
    WHERE account_id = ${accountId} AND custom_id > ${BOARD_PREFIX}
    AND custom_id < ${endOf(BOARD_PREFIX)}
      AND NOT EXISTS (SELECT 1 FROM rooms WHERE rooms.account_id = ${accountId} AND deleted_at IS NULL
        AND rooms.id = substr(identities.custom_id, ${BOARD_PREFIX.length + 1}, 36))
    LIMIT ${limit}`;
