/** SQL about identities that other features include in their batches. */
import type { Statement, Tenant } from "../../platform/d1/d1.ts";

/** The query of a guest's room. */
export const roomOfGuest = ({ accountId }: Tenant, guestId: string): Pick<Statement, "sql" | "params"> => ({
  sql: `SELECT room_links.room_id FROM identities
          JOIN room_links ON room_links.account_id = identities.account_id AND room_links.id = identities.link_id
        WHERE identities.account_id = ? AND identities.id = ?`,
  params: [accountId, guestId],
});
