/** The SQL of the fences around an organization that moves or is restored. */
import { and, eq, lte } from "drizzle-orm";
import { build, type Statement, statement } from "./d1.ts";
import { fences, type moves } from "./table.ts";

type FenceHolder = Pick<typeof moves.$inferSelect, "accountId" | "fencingToken">;

/** Makes the database refuse writes of the organization. */
export const raiseFence = ({
  accountId,
  fencingToken,
}: FenceHolder): Statement => statement`INSERT INTO fences (account_id, fencing_token)
    VALUES (${accountId}, ${fencingToken})
    ON CONFLICT (account_id) DO UPDATE SET fencing_token = excluded.fencing_token
      WHERE excluded.fencing_token > fences.fencing_token`;

export const lowerFence = ({ accountId, fencingToken }: FenceHolder): Statement =>
  statement(
    build.delete(fences).where(and(eq(fences.accountId, accountId), lte(fences.fencingToken, fencingToken))),
  );

/** Deletes fences once the organization is gone from this database, so that no restore meets remains of a move. */
export const deleteFence = (accountId: string): Statement =>
  statement`DELETE FROM fences WHERE account_id = ${accountId} AND NOT EXISTS (SELECT 1 FROM accounts
      WHERE id = fences.account_id)`;

/** A batch of writes behind the fence. It fails as a whole when a later run has the fence. */
export const behindFence = (move: FenceHolder, writes: readonly Statement[]): [Statement, ...Statement[]] => [
  statement`INSERT INTO fences (account_id, fencing_token)
      SELECT NULL, NULL WHERE NOT EXISTS (SELECT 1 FROM fences
        WHERE account_id = ${move.accountId} AND fencing_token = ${move.fencingToken})`,
  lowerFence(move),
  ...writes,
  raiseFence(move),
];
