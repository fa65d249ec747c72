/** The statements about API keys that other features include in their batches. */
import { eq } from "drizzle-orm";
import { build, type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import { apiKeys } from "./table.ts";

/** Deletes all keys of the organization. */
export const deleteKeysOf = ({ accountId }: Tenant): Statement<{ hash: string }> =>
  statement(build.delete(apiKeys).where(eq(apiKeys.accountId, accountId)).returning({ hash: apiKeys.hash }));
