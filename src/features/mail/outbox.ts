/** Stores each mail, then sends it now or by the cron trigger: a crash loses none, and repeats an uncertain one once. */

import { backoffMs } from "@atrium/contract/pacing/backoff.ts";
import type { Env } from "../../env.ts";
import { jwtSecrets } from "../../platform/config.ts";
import { type Sealer, sealerFor } from "../../platform/crypto/sealer.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { openDirectory } from "../../platform/d1/databases.ts";
import { expire } from "../../platform/d1/expiry.ts";
import { TIMED_OUT } from "../../platform/flow/concurrency.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import { logError } from "../../platform/log.ts";
import type { Mail } from "./mail.ts";
import { attemptMail, type Mailer, openMailer } from "./mailer.ts";
import {
  COUNTED_MS,
  claimDueMails,
  finishMail,
  MAIL_COUNTS,
  MAILS,
  type NewMail,
  retryMail,
} from "./statements.ts";
import type { MailRow } from "./table.ts";

const PURPOSE = "atrium mails";
const AT_ONCE = 20;
/** The next run of the cron trigger continues. */
const CHUNKS_PER_RUN = 25;
/** An attempt whose end was not recorded by then was cut off by a crash. */
const CLAIM_MS = 5 * 60_000;
const RETRY = { firstMs: 60_000, maxMs: 2 * 60 * 60_000 };
const MAX_FAILURES = 8;
/** Attempts whose end is not known: after them, the mail may have been sent twice. */
const MAX_UNCERTAIN = 2;

/** When a mail was written, and for how long it is of use. */
type MailFacts = Pick<NewMail, "id" | "accountId" | "topic" | "createdAt" | "expiresAt">;

export class MailOutbox {
  /** The origin of links in mails, such as `https://atrium.example`. */
  readonly origin: string;
  readonly #sealer: Sealer;
  readonly #mailer: Mailer;

  constructor(origin: string, sealer: Sealer, mailer: Mailer) {
    this.origin = origin;
    this.#sealer = sealer;
    this.#mailer = mailer;
  }

  /** Encrypts a mail: the database has its links in no other form than as hashes. */
  async seal(facts: MailFacts, mail: Mail): Promise<NewMail> {
    return { ...facts, ...(await this.#sealer.seal(JSON.stringify(mail), [facts.id])) };
  }

  /** Sends some of what is due, and returns true if more may be. Never rejects: the cron trigger tries again. */
  async send(db: Database, now: number): Promise<boolean> {
    try {
      const [claimed] = await db.run([claimDueMails(now, now + CLAIM_MS, AT_ONCE)]);
      await Promise.all(claimed.map((row) => this.#attempt(db, row, now)));
      return claimed.length === AT_ONCE;
    } catch (error) {
      logError("Mails that are due could not be sent yet", {}, error);
      return false;
    }
  }

  async #attempt(db: Database, row: MailRow, now: number): Promise<void> {
    const fields = { mail: row.id };
    let mail: Mail;
    try {
      mail = JSON.parse(await this.#sealer.open(row, [row.id])) as Mail;
    } catch (error) {
      logError("A mail can no longer be decrypted, and is not sent", fields, error);
      await db.run([finishMail(row)]);
      return;
    }
    if (row.uncertain > MAX_UNCERTAIN) {
      await db.run([finishMail(row)]);
      return;
    }
    const failure = await attemptMail(this.#mailer, row.recipient, mail).catch((error: Error) => error);
    if (failure === TIMED_OUT) return logError("It is not known whether a mail was sent", fields);
    if (failure === undefined) {
      await db.run([finishMail(row)]);
      return;
    }
    const failures = row.failures + 1;
    const isLast = failures >= MAX_FAILURES;
    logError(
      isLast ? "A mail could not be sent, and was given up" : "A mail could not be sent yet",
      fields,
      failure,
    );
    await db.run([isLast ? finishMail(row) : retryMail(row, now + backoffMs(failures, RETRY))]);
  }
}

/** Null when the deployment sends none, an INTERNAL_ERROR when it is set up wrongly. */
export function mailOutbox(env: Env): MailOutbox | null {
  const service = openMailer(env);
  return service && new MailOutbox(service.origin, sealerFor(jwtSecrets(env), PURPOSE), service.mailer);
}

/** Sends what requests have left behind, and deletes what has expired. */
export async function continueMails(env: Env, now: number, queries: WorkBudget | null = null): Promise<void> {
  const db = openDirectory(env);
  await expire(db, MAILS, now, queries);
  await expire(db, MAIL_COUNTS, now - COUNTED_MS, queries);
  const outbox = mailOutbox(env);
  if (outbox !== null) await new WorkBudget(CHUNKS_PER_RUN, queries).run(() => outbox.send(db, now));
}
