/** The SQL of the fences around an organization that moves or is restored. */
import { and, eq, lte } from "drizzle-orm";
import { build, type Statement, statement } from "./d1.ts";
import { fences, type moves } from "./table.ts";

type FenceHolder = Pick<typeof moves.$inferSelect, "accountId" | "fencingToken">;

/** From then on, the database refuses what is written for the organization. */
export const raiseFence = ({ accountId, fencingToken }: FenceHolder): Statement => ({
  sql: `INSERT INTO fences (account_id, fencing_token) VALUES (?, ?)
        ON CONFLICT (account_id) DO UPDATE SET fencing_token = excluded.fencing_token WHERE excluded.fencing_token > fences.fencing_token`,
  params: [accountId, fencingToken],
});

export const lowerFence = ({ accountId, fencingToken }: FenceHolder): Statement =>
  statement(
    build.delete(fences).where(and(eq(fences.accountId, accountId), lte(fences.fencingToken, fencingToken))),
  );

/** Once the organization is gone from this database: no restore is to meet what a move has left. */
export const deleteFence = (accountId: string): Statement => ({
  sql: "DELETE FROM fences WHERE account_id = ? AND NOT EXISTS (SELECT 1 FROM accounts WHERE id = fences.account_id)",
  params: [accountId],
});

/** A batch that writes behind the fence. It fails as a whole when a later run has the fence. */
export const behindFence = (move: FenceHolder, writes: readonly Statement[]): [Statement, ...Statement[]] => [
  {
    sql: `INSERT INTO fences (account_id, fencing_token)
          SELECT NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM fences WHERE account_id = ? AND fencing_token = ?)`,
    params: [move.accountId, move.fencingToken],
  },
  lowerFence(move),
  ...writes,
  raiseFence(move),
];
