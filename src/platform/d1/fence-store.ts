/** The SQL of the fences around an organization that moves or is restored. */
import { and, eq, lte } from "drizzle-orm";
import { build, type Statement, statement } from "./d1.ts";
import { fences, type moves } from "./table.ts";

type FenceHolder = Pick<typeof moves.$inferSelect, "accountId" | "turn">;

/** From then on, the database refuses what is written for the organization. */
export const raiseFence = ({ accountId, turn }: FenceHolder): Statement => ({
  sql: `INSERT INTO fences (account_id, turn) VALUES (?, ?)
        ON CONFLICT (account_id) DO UPDATE SET turn = excluded.turn WHERE excluded.turn > fences.turn`,
  params: [accountId, turn],
});

export const lowerFence = ({ accountId, turn }: FenceHolder): Statement =>
  statement(build.delete(fences).where(and(eq(fences.accountId, accountId), lte(fences.turn, turn))));

/** Once the organization is gone from this database: no restore is to meet what a move has left. */
export const deleteFence = (accountId: string): Statement => ({
  sql: "DELETE FROM fences WHERE account_id = ? AND NOT EXISTS (SELECT 1 FROM accounts WHERE id = fences.account_id)",
  params: [accountId],
});

/** A batch that writes behind the fence. It fails as a whole when the fence is not this turn's any more. */
export const behindFence = (move: FenceHolder, writes: readonly Statement[]): [Statement, ...Statement[]] => [
  {
    sql: `INSERT INTO fences (account_id, turn)
          SELECT NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM fences WHERE account_id = ? AND turn = ?)`,
    params: [move.accountId, move.turn],
  },
  lowerFence(move),
  ...writes,
  raiseFence(move),
];
