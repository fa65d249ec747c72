/** How the secrets of workflows are encrypted, opened for a run, and sealed again when the deployment's secret is replaced. */

import { resealInChunks } from "../../platform/crypto/resealing.ts";
import { type Sealer, sealerFor } from "../../platform/crypto/sealer.ts";
import type { Database, Statement } from "../../platform/d1/d1.ts";
import type { Secret } from "../../sandbox/runners/runner.ts";
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

/** The secrets of one workflow in the clear, opened once for each state of its row. */
export class OpenSecrets {
  readonly #openSealer: () => Sealer;
  #latest: { readonly sealed: string; readonly opened: Promise<readonly Secret[] | string> } | null = null;

  constructor(openSealer: () => Sealer) {
    this.#openSealer = openSealer;
  }

  /** A string says, for the customer, why one cannot be opened. */
  open(row: Pick<RunnableWorkflow, "accountId" | "id" | "secrets">): Promise<readonly Secret[] | string> {
    if (this.#latest?.sealed !== row.secrets) this.#latest = { sealed: row.secrets, opened: this.#open(row) };
    return this.#latest.opened;
  }

  async #open({
    accountId,
    id,
    secrets,
  }: Pick<RunnableWorkflow, "accountId" | "id" | "secrets">): Promise<readonly Secret[] | string> {
    const opened: Secret[] = [];
    for (const [name, keyId, sealed] of parseSealed(secrets)) {
      try {
        const value = await this.#openSealer().open({ keyId, sealed }, placeOf(accountId, id, name));
        opened.push([name, value]);
      } catch {
        return `The secret ${name} can no longer be decrypted; set it again`;
      }
    }
    return opened;
  }
}

/** As `selectRunnable` returns them. */
const parseSealed = (json: string) => JSON.parse(json) as [name: string, keyId: string, sealed: string][];

/** Seals with the current key what replaced ones have sealed, so that these can be forgotten. What none can open is marked. */
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

/** What takes the row out of those that a replaced key has sealed. */
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
