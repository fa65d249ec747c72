/** SQL that webhooks and workflows share: subscriptions, and disabling of subscribers. */

import type { WebhookEventName } from "@atrium/contract/resources/events.ts";
import { type SQL, sql } from "drizzle-orm";
import { type Statement, statement, type Tenant } from "../../platform/d1/d1.ts";
import type { RoomSubscription, SubscriberKey } from "./subscription.ts";

type Kind = SubscriberKey["kind"];

const tableOf = (kind: Kind): SQL => sql.identifier(`${kind}s`).getSQL();

const enabledOf = (kind: Kind, { accountId }: Tenant): SQL =>
  sql`SELECT ${kind} AS kind, id, updated_at AS version, events, room_id AS roomId,
        ${kind === "webhook" ? sql`identity_id` : sql`NULL`} AS identityId
      FROM ${tableOf(kind)} WHERE account_id = ${accountId} AND enabled`;

export interface OrganizationSubscription extends RoomSubscription {
  readonly roomId: string | null;
}

export const selectAllSubscriptions = (tenant: Tenant): Statement<OrganizationSubscription> =>
  statement`${enabledOf("webhook", tenant)} UNION ALL ${enabledOf("workflow", tenant)}`;

/** A subquery for one event's subscriptions as JSON, in `owed`: the log's, and those of the subscribers that want it. */
export function subscriptionsAsJson(
  tenant: Tenant,
  roomId: string,
  event: WebhookEventName,
  only: Kind | "any" = "any",
): SQL {
  const inRoom = sql`(room_id IS NULL OR room_id = ${roomId})`;
  return sql`SELECT json_insert(
        json_group_array(json_object('kind', kind, 'id', id, 'version', version)),
        '$[#]', json_object('kind', 'log', 'id', '', 'version', 0)
      ) AS owed
      FROM (${enabledOf("webhook", tenant)} AND ${inRoom} UNION ALL ${enabledOf("workflow", tenant)} AND ${inRoom})
      WHERE instr(events, ${JSON.stringify(event)}) AND ${only} IN (kind, 'any')`;
}

/** Deletes the webhooks of an identity, and returns their IDs. */
export const deleteWebhooksOf = ({ accountId }: Tenant, identityId: string): Statement<{ id: string }> =>
  statement`DELETE FROM webhooks WHERE account_id = ${accountId} AND identity_id = ${identityId} RETURNING id`;

/** The same for identities that are gone: one that was deleted during a backup is not in it, but its webhooks may be. */
export const deleteOrphanWebhooks = ({ accountId }: Pick<Tenant, "accountId">): Statement =>
  statement`DELETE FROM webhooks WHERE account_id = ${accountId} AND identity_id IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM identities WHERE identities.account_id = webhooks.account_id AND identities.id = identity_id)`;

const disabledAt = (now: number): SQL => sql`enabled = 0, updated_at = max(updated_at + 1, ${now})`;

export const disableAll = (kind: Kind, { accountId }: Tenant, now: number): Statement =>
  statement`UPDATE ${tableOf(kind)} SET ${disabledAt(now)} WHERE account_id = ${accountId} AND enabled = 1`;

/** Disables a subscriber for this reason, unless it has changed since this version of it was read. */
export const disableSubscriber = (
  { kind, accountId, id }: SubscriberKey,
  version: number,
  reason: string,
  now: number,
): Statement<{ id: string }> =>
  statement`UPDATE ${tableOf(kind)} SET ${disabledAt(now)}, disabled_reason = ${reason}
      WHERE account_id = ${accountId} AND id = ${id} AND updated_at = ${version} RETURNING id`;

export const selectSomeSubscribers = (
  kind: Kind,
  { accountId }: Tenant,
  limit: number,
): Statement<{ id: string }> =>
  statement`SELECT id FROM ${tableOf(kind)} WHERE account_id = ${accountId} LIMIT ${limit}`;
