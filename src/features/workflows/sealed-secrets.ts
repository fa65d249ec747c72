/** Secrets of workflows at rest and in runs: encryption, and reports without them. */

import { resealInChunks, type Sealer, sealerFor } from "../../platform/crypto/sealer.ts";
import type { Database, Statement } from "../../platform/d1/d1.ts";
import type { WorkBudget } from "../../platform/flow/work-budget.ts";
import type { RunReport, Secret } from "../../sandbox/runners/runner.ts";
import { markUnreadable, resealSecret, type StoredSecret, selectSealedBy } from "./secret-store.ts";
import type { RunnableWorkflow } from "./table.ts";

const PURPOSE = "atrium workflow secrets";

export const secretSealer = (secrets: readonly [current: string, ...replaced: string[]]): Sealer =>
  sealerFor(secrets, PURPOSE);

/** A sealed value is of no use under another name, workflow or organization. */
export const placeOf = (accountId: string, workflowId: string, name: string): readonly string[] => [
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

/** Not longer than any secret, so that masking exceeds no limit. */
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
  queries: WorkBudget | null = null,
): Promise<void> {
  const replaced = await sealer.replacedKeyIds();
  if (replaced.length === 0) return;
  const rows = {
    select: (limit: number) => selectSealedBy(replaced, limit),
    reseal: (row: StoredSecret) => resealed(sealer, row, log),
  };
  await resealInChunks(db, rows, queries);
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
