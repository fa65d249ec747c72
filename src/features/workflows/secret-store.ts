/** The only SQL about the secrets of workflows. */
import { and, asc, eq, inArray } from "drizzle-orm";
import type { Sealed } from "../../platform/crypto/sealer.ts";
import {
  build,
  columnsOf,
  isNotFenced,
  type Statement,
  statement,
  type Tenant,
} from "../../platform/d1/d1.ts";
import { workflowSecrets } from "./table.ts";

export const MAX_SECRETS = 50;

export type StoredSecret = typeof workflowSecrets.$inferSelect;
/** A secret without its value. Times are epoch milliseconds. */
export type SecretSummary = Pick<StoredSecret, "name" | "createdAt" | "updatedAt">;

const { name, createdAt, updatedAt } = columnsOf(workflowSecrets);

const ofWorkflow = ({ accountId }: Pick<Tenant, "accountId">, workflowId: string) =>
  and(eq(workflowSecrets.accountId, accountId), eq(workflowSecrets.workflowId, workflowId));

export const selectSecrets = (tenant: Tenant, workflowId: string): Statement<SecretSummary> =>
  statement(
    build
      .select({ name, createdAt, updatedAt })
      .from(workflowSecrets)
      .where(ofWorkflow(tenant, workflowId))
      .orderBy(asc(workflowSecrets.name)),
  );

/** Creates or replaces a secret. Returns no row without the workflow, and for a new one beyond {@link MAX_SECRETS}. */
export const putSecret = (
  { accountId }: Tenant,
  workflowId: string,
  secret: string,
  { keyId, sealed }: Sealed,
  now: number,
): Statement<SecretSummary> => statement`INSERT INTO workflow_secrets (account_id, workflow_id, name,
    created_at,
    updated_at, key_id, sealed)
    SELECT account_id, id, ${secret}, ${now}, ${now}, ${keyId}, ${sealed} FROM workflows
      WHERE account_id = ${accountId} AND id = ${workflowId}
      AND (SELECT count(*) FROM workflow_secrets
        WHERE account_id = ${accountId} AND workflow_id = ${workflowId} AND name <> ${secret}) < ${MAX_SECRETS}
    ON CONFLICT DO UPDATE SET updated_at = excluded.updated_at, key_id = excluded.key_id, sealed = excluded.sealed
    RETURNING name, created_at AS createdAt, updated_at AS updatedAt`;

export const deleteSecret = (tenant: Tenant, workflowId: string, secret: string): Statement =>
  statement(
    build
      .delete(workflowSecrets)
      .where(and(ofWorkflow(tenant, workflowId), eq(workflowSecrets.name, secret))),
  );

/** Some of the secrets, of all organizations, that these keys have sealed. */
export const selectSealedBy = (keyIds: readonly string[], limit: number): Statement<StoredSecret> =>
  statement(
    build
      .select(columnsOf(workflowSecrets))
      .from(workflowSecrets)
      .where(and(inArray(workflowSecrets.keyId, [...keyIds]), isNotFenced(workflowSecrets.accountId)))
      .limit(limit),
  );

/** Seals a secret's value with another key, unless it was set again meanwhile. */
export const resealSecret = (before: StoredSecret, after: Sealed): Statement =>
  statement(
    build.update(workflowSecrets).set({ keyId: after.keyId, sealed: after.sealed }).where(unchanged(before)),
  );

/**
 * Notes that a secret cannot be opened with the key that it names, unless it was set again meanwhile: no key has the
 * name that is stored in its place, so that no one tries again.
 */
export const markUnreadable = (secret: StoredSecret): Statement =>
  statement(
    build
      .update(workflowSecrets)
      .set({ keyId: `unreadable ${secret.keyId}` })
      .where(unchanged(secret)),
  );

const unchanged = ({ accountId, workflowId, name: secret, sealed }: StoredSecret) =>
  and(
    ofWorkflow({ accountId }, workflowId),
    eq(workflowSecrets.name, secret),
    eq(workflowSecrets.sealed, sealed),
  );
