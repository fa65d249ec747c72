/** The secrets of workflows: writes, the list of their names, their encryption, and reports without them. */
import { notifyOfChange } from "../../delivery/subscribers.ts";
import { explain } from "../../http/request-input.ts";
import { resealInChunks, type Sealer, sealerFor } from "../../platform/crypto/sealer.ts";
import type { Database, Statement } from "../../platform/d1/d1.ts";
import { AppError, notFound } from "../../platform/errors.ts";
import type { RunReport, Secret } from "../../sandbox/runners/runner.ts";
import type { WorkflowContext } from "./context.ts";
import { subscriberKey } from "./queries.ts";
import { presentSecret, SecretName, type WorkflowSecret } from "./schema.ts";
import {
  deleteSecret as deleteRow,
  MAX_SECRETS,
  markUnreadable,
  putSecret,
  resealSecret,
  type StoredSecret,
  selectSealedBy,
  selectSecrets,
} from "./secret-store.ts";
import { selectWorkflowSummary, touchIfChanged } from "./store.ts";
import type { RunnableWorkflow } from "./table.ts";

/** All of them, by name and without values. NOT_FOUND without the workflow. */
export async function listSecrets(
  ctx: WorkflowContext,
  workflowId: string,
): Promise<{ secrets: WorkflowSecret[] }> {
  const [[workflow], secrets] = await ctx.db.run([
    selectWorkflowSummary(ctx, workflowId),
    selectSecrets(ctx, workflowId),
  ]);
  if (workflow === undefined) throw notFound("Workflows", "Workflow");
  return { secrets: secrets.map(presentSecret) };
}

/** Creates or replaces a secret: runs that start after the response have it. CONFLICT beyond the number that is allowed. */
export async function setSecret(
  ctx: WorkflowContext,
  workflowId: string,
  secret: string,
  value: string,
): Promise<{ secret: WorkflowSecret }> {
  const name = SecretName.safeParse(secret);
  if (!name.success) throw new AppError("Workflows", "BAD_REQUEST", explain(name.error, "The secret's name"));
  const sealed = await ctx.secretSealer.seal(value, placeOf(ctx.accountId, workflowId, name.data));
  const now = ctx.now();
  const [[workflow], [row], [touched]] = await ctx.commit([
    selectWorkflowSummary(ctx, workflowId),
    putSecret(ctx, workflowId, name.data, sealed, now),
    touchIfChanged(ctx, workflowId, now),
  ]);
  if (workflow === undefined) throw notFound("Workflows", "Workflow");
  if (row === undefined || touched === undefined) {
    const why = `A workflow can have at most ${MAX_SECRETS} secrets; delete one that it does not need`;
    throw new AppError("Workflows", "CONFLICT", why);
  }
  await notifyOfChange(ctx, subscriberKey(ctx, workflowId), touched.updatedAt);
  return { secret: presentSecret(row) };
}

export async function deleteSecret(
  ctx: WorkflowContext,
  workflowId: string,
  secret: string,
): Promise<Record<string, never>> {
  const [[workflow], , [touched]] = await ctx.commit([
    selectWorkflowSummary(ctx, workflowId),
    deleteRow(ctx, workflowId, secret),
    touchIfChanged(ctx, workflowId, ctx.now()),
  ]);
  if (workflow === undefined) throw notFound("Workflows", "Workflow");
  if (touched === undefined) throw notFound("Workflows", "Secret");
  await notifyOfChange(ctx, subscriberKey(ctx, workflowId), touched.updatedAt);
  return {};
}

const PURPOSE = "atrium workflow secrets";

export const secretSealer = (secrets: readonly [current: string, ...replaced: string[]]): Sealer =>
  sealerFor(secrets, PURPOSE);

/** A sealed value is of no use under another name, workflow or organization. */
const placeOf = (accountId: string, workflowId: string, name: string): readonly string[] => [
  accountId,
  workflowId,
  name,
];

type Sealed = Pick<RunnableWorkflow, "accountId" | "id" | "secrets">;

/** The secrets of one workflow in the clear, opened once for each state of its row. */
export class OpenSecrets {
  readonly #openSealer: () => Sealer;
  readonly #log: (message: string, error: unknown) => void;
  #latest: { readonly sealed: string; readonly opened: Promise<readonly Secret[] | string> } | null = null;

  constructor(openSealer: () => Sealer, log: (message: string, error: unknown) => void) {
    this.#openSealer = openSealer;
    this.#log = log;
  }

  /** A string says, for the customer, why one cannot be opened. */
  open(row: Sealed): Promise<readonly Secret[] | string> {
    if (this.#latest?.sealed !== row.secrets) this.#latest = { sealed: row.secrets, opened: this.#open(row) };
    return this.#latest.opened;
  }

  async #open({ accountId, id, secrets }: Sealed): Promise<readonly Secret[] | string> {
    const opened: Secret[] = [];
    for (const [name, keyId, sealed] of parseSealed(secrets)) {
      try {
        const value = await this.#openSealer().open({ keyId, sealed }, placeOf(accountId, id, name));
        opened.push([name, value]);
      } catch (error) {
        this.#log("A secret of a workflow could not be decrypted", error);
        return `The secret ${name} can no longer be decrypted; set it again`;
      }
    }
    return opened;
  }
}

/** Not longer than any secret: what was within a limit stays so. */
const MASK = "***";

/** The strings and numbers of a JSON text. */
const JSON_VALUE = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** The report without secrets. An encoded secret, such as in Base64, stays. */
export function redact(report: RunReport, secrets: readonly Secret[]): RunReport {
  if (secrets.length === 0) return report;
  const mask = maskFor(secrets.map(([, value]) => value));
  const { status, result, logs } = report;
  return {
    ...report,
    result: status === "success" ? maskJson(result, mask) : mask(result),
    logs: logs.map((line) => ({ ...line, message: mask(line.message) })),
  };
}

function maskFor(values: readonly string[]): (text: string) => string {
  const asJson = values.map((value) => JSON.stringify(value).slice(1, -1));
  // The longest first: one may be part of another.
  const hidden = [...new Set([...values, ...asJson])].toSorted((a, b) => b.length - a.length);
  return (text) => hidden.reduce((masked, value) => masked.replaceAll(value, MASK), text);
}

/** Value by value, so that it stays JSON. */
const maskJson = (json: string, mask: (text: string) => string): string =>
  json.replace(JSON_VALUE, (token) => {
    if (!token.startsWith('"')) return mask(token) === token ? token : JSON.stringify(mask(token));
    const text = JSON.parse(token) as string;
    const masked = mask(text);
    return masked === text ? token : JSON.stringify(masked);
  });

const parseSealed = (json: string) => JSON.parse(json) as [name: string, keyId: string, sealed: string][];

/** Seals values of replaced keys with the current one, so that the old keys can go. Unreadable values are marked. */
export async function resealSecrets(
  db: Database,
  sealer: Sealer,
  log: (message: string, error: unknown) => void,
): Promise<void> {
  const replaced = await sealer.replacedKeyIds();
  if (replaced.length === 0) return;
  await resealInChunks(db, {
    select: (limit) => selectSealedBy(replaced, limit),
    reseal: (row: StoredSecret) => resealed(sealer, row, log),
  });
}

/** The change that takes the row out of the replaced key's. */
async function resealed(
  sealer: Sealer,
  row: StoredSecret,
  log: (message: string, error: unknown) => void,
): Promise<Statement> {
  const { accountId, workflowId, name } = row;
  const place = placeOf(accountId, workflowId, name);
  let value: string;
  try {
    value = await sealer.open(row, place);
  } catch (error) {
    log(`The secret ${name} of workflow ${workflowId} cannot be decrypted and must be set again`, error);
    return markUnreadable(row);
  }
  return resealSecret(row, await sealer.seal(value, place));
}
