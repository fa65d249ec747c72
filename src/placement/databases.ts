/** The databases of a deployment: the one place that opens them, for requests, objects and the cron trigger alike. */
import type { Env } from "../config.ts";
import { type Database, openDatabase, type Tenant } from "../platform/d1.ts";

/** The database of people, memberships, invitations and API keys. */
export const openDirectory = (env: Env): Database => openDatabase(env.DB);

/** An organization with the database of what it owns. */
export const openTenant = (env: Env, accountId: string): Tenant => ({
  accountId,
  db: openDatabase(env.DB),
});
