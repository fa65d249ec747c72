/** `POST /operator/backup/…` and `/operator/restore/…`: backups and restores of organizations and of the deployment, for the operator's commands. */

import { AppError } from "@atrium/contract/errors.ts";
import type { Env } from "../../env.ts";
import { failure, toAppError } from "../../http/envelope.ts";
import { withoutCors } from "../../http/security.ts";
import { jwtSecrets } from "../../platform/config.ts";
import { logError } from "../../platform/log.ts";
import { BACKUP_OPERATIONS } from "./backup-operations.ts";
import { DEPLOYMENT_OPERATIONS } from "./deployment-operations.ts";
import { DEPLOYMENT, isAccountId } from "./format.ts";
import { type Operation, signaturesOf } from "./operator-call.ts";
import { requireOperator } from "./operator-token.ts";
import { RESTORE_OPERATIONS } from "./restore-operations.ts";
import { OPERATOR_PURPOSES, type OperatorPurpose } from "./table.ts";

type Operations = Readonly<Record<OperatorPurpose, Readonly<Record<string, Operation>>>>;

const OF_ORGANIZATION: Operations = { backup: BACKUP_OPERATIONS, restore: RESTORE_OPERATIONS };

function operationsOf(accountId: string): Operations | undefined {
  if (accountId === DEPLOYMENT) return DEPLOYMENT_OPERATIONS;
  return isAccountId(accountId) ? OF_ORGANIZATION : undefined;
}

interface OperatorPath {
  readonly purpose: string;
  readonly accountId: string;
  readonly operation: string;
}

function operationOf({ purpose: named, accountId, operation: name }: OperatorPath) {
  const purpose = OPERATOR_PURPOSES.find((candidate) => candidate === named);
  const operations = purpose && operationsOf(accountId)?.[purpose];
  const operation = operations && Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (purpose !== undefined && operation !== undefined) return { purpose, operation };
  throw new AppError(
    "Server",
    "NOT_FOUND",
    "This operation does not exist; update the command or the service",
  );
}

export async function operatorResponse(request: Request, env: Env, path: OperatorPath): Promise<Response> {
  const requestId = crypto.randomUUID();
  const { accountId } = path;
  const log = (message: string, error: unknown) =>
    logError(message, { account: accountId, request: requestId }, error);
  try {
    const { purpose, operation } = operationOf(path);
    await requireOperator(request, env, accountId, purpose);
    const signatures = signaturesOf(jwtSecrets(env));
    return withoutCors(
      await operation({ request, env, accountId, signatures, requestId, now: Date.now, log }),
    );
  } catch (error) {
    const refusal = toAppError(error, "Server");
    if (refusal.code === "INTERNAL_ERROR") log("An operation of a backup or restore failed", error);
    return withoutCors(failure(refusal, requestId));
  }
}
