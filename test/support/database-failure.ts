/** Makes D1 fail for all that is asked of one table, as when the database is down. */
import { env } from "cloudflare:workers";
import { permitLogged } from "./log-guard.ts";

/**
 * Runs `work` while every statement about the table fails. Objects of earlier tests meet that as well, whose
 * alarms come by the real clock; their log entries fail no test.
 */
export async function whileTableFails(
  table: "rooms" | "users" | "webhooks" | "workflows",
  work: () => Promise<unknown>,
): Promise<void> {
  permitLogged(new RegExp(`no such table: (main\\.)?${table}\\b`));
  await env.DB.exec(`ALTER TABLE ${table} RENAME TO ${table}_away`);
  try {
    await work();
  } finally {
    await env.DB.exec(`ALTER TABLE ${table}_away RENAME TO ${table}`);
  }
}
