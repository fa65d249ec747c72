/** Stores each mail, then sends it now or by the cron trigger: a crash loses none, and repeats an uncertain one once. */

import type { Env } from "../../env.ts";
import { jwtSecrets, mailSettings } from "../../platform/config.ts";
import { type Sealer, sealerFor } from "../../platform/crypto/sealer.ts";
import type { Database } from "../../platform/d1/d1.ts";
import { openDirectory } from "../../platform/d1/databases.ts";
import { expire } from "../../platform/d1/expiry.ts";
import { backoffMs } from "../../platform/flow/backoff.ts";
import { TIMED_OUT, withTimeLimit } from "../../platform/flow/concurrency.ts";
import { WorkBudget } from "../../platform/flow/work-budget.ts";
import { logError } from "../../platform/log.ts";
import type { Mail } from "./mail.ts";
import { type Mailer, mailerFor } from "./mailer.ts";
import { claimDueMails, finishMail, MAILS, type NewMail, retryMail } from "./statements.ts";
import type { MailRow } from "./table.ts";

const PURPOSE = "atrium mails";
const AT_ONCE = 20;
/** The next run of the cron trigger continues. */
const CHUNKS_PER_RUN = 25;
/** The limit of one attempt. A slower one may or may not have sent the mail. */
const SEND_LIMIT_MS = 20_000;
/** An attempt whose end was not recorded by then was cut off by a crash. */
const CLAIM_MS = 5 * 60_000;
const RETRY = { firstMs: 60_000, maxMs: 2 * 60 * 60_000 };
const MAX_FAILURES = 8;
/** Attempts whose end is not known: after them, the mail may have been sent twice. */
const MAX_UNCERTAIN = 2;

/** When a mail was written, and for how long it is of use. */
type MailFacts = Pick<NewMail, "id" | "accountId" | "topic" | "createdAt" | "expiresAt">;

/** Names a mail of an inbox: its content is read when it is sent. */
export interface NotificationMail {
  readonly accountId: string;
  readonly identityId: string;
  readonly sendingId: string;
}

/** A mail, and the address that its row has from now on if that has changed. */
type MailTo = Mail & { readonly to?: string };

export type MailOutcome = "sent" | "failed" | "limit" | "unknown";

export interface NotificationMails {
  /** The mail of a row as it is now; null if there is no reason for it any more. */
  write(mail: NotificationMail, row: MailRow, origin: string): Promise<MailTo | null>;
  finish(mail: NotificationMail, outcome: MailOutcome): Promise<void>;
}

export class MailOutbox {
  /** The origin of links in mails, such as `https://atrium.example`. */
  readonly origin: string;
  readonly #sealer: Sealer;
  readonly #mailer: Mailer;
  readonly #notifications: NotificationMails | null;

  constructor(origin: string, sealer: Sealer, mailer: Mailer, notifications: NotificationMails | null) {
    this.origin = origin;
    this.#sealer = sealer;
    this.#mailer = mailer;
    this.#notifications = notifications;
  }

  /** Encrypts a mail: the database has its links in no other form than as hashes. */
  async seal(facts: MailFacts, mail: Mail | NotificationMail): Promise<NewMail> {
    return { ...facts, ...(await this.#sealer.seal(JSON.stringify(mail), [facts.id])) };
  }

  /** Sends some of what is due, and returns true if more may be. Never rejects: the cron trigger tries again. */
  async send(db: Database, now: number): Promise<boolean> {
    try {
      const [claimed] = await db.run([
        claimDueMails(now, now + CLAIM_MS, AT_ONCE, this.#notifications !== null),
      ]);
      await Promise.all(claimed.map((row) => this.#attempt(db, row, now)));
      return claimed.length === AT_ONCE;
    } catch (error) {
      logError("Mails that are due could not be sent yet", {}, error);
      return false;
    }
  }

  async #attempt(db: Database, row: MailRow, now: number): Promise<void> {
    const fields = { mail: row.id };
    let mail: Mail | NotificationMail;
    try {
      mail = parseMail(await this.#sealer.open(row, [row.id]));
    } catch (error) {
      logError("A mail can no longer be decrypted, and is not sent", fields, error);
      await db.run([finishMail(row)]);
      return;
    }
    if (row.uncertain > MAX_UNCERTAIN) {
      await db.run([finishMail(row)]);
      return this.#report(row, mail, "unknown");
    }
    const { failure, to } = await this.#try(row, mail);
    const tried = { id: row.id, recipient: to };
    if (failure === null) await db.run([finishMail(tried)]);
    if (failure === null || failure === TIMED_OUT) return;
    const failures = row.failures + 1;
    const isLast = failures >= MAX_FAILURES;
    logError(
      isLast ? "A mail could not be sent, and was given up" : "A mail could not be sent yet",
      fields,
      failure,
    );
    await db.run([isLast ? finishMail(tried) : retryMail(tried, now + backoffMs(failures, RETRY))]);
    if (isLast) await this.#report(row, mail, "failed");
  }

  /** `failure` is null when the mail was sent, or is not to be; why it was not; or that this is not known. */
  async #try(
    row: MailRow,
    content: Mail | NotificationMail,
  ): Promise<{ failure: Error | typeof TIMED_OUT | null; to: string }> {
    let to = row.recipient;
    try {
      const written: MailTo | null | undefined = isWritten(content)
        ? content
        : await this.#notifications?.write(content, row, this.origin);
      if (written === null || written === undefined) return { failure: null, to };
      const { to: address, ...mail } = written;
      to = address ?? to;
      const sent = await withTimeLimit(this.#mailer.send(to, mail), SEND_LIMIT_MS);
      if (sent !== TIMED_OUT) await this.#report(row, content, "sent");
      else logError("It is not known whether a mail was sent", { mail: row.id });
      return { failure: sent === TIMED_OUT ? TIMED_OUT : null, to };
    } catch (error) {
      // Errors may name the recipient, who does not belong into the log.
      return { failure: new Error(String(error).replaceAll(to, "the recipient")), to };
    }
  }

  /** Tells the inbox what became of its mail. */
  async #report({ id }: MailRow, mail: Mail | NotificationMail, outcome: MailOutcome): Promise<void> {
    if (isWritten(mail)) return;
    try {
      await this.#notifications?.finish(mail, outcome);
    } catch (error) {
      logError("An inbox does not know what became of its mail", { mail: id }, error);
    }
  }
}

const parseMail = (json: string) => JSON.parse(json) as Mail | NotificationMail;
const isWritten = (mail: Mail | NotificationMail): mail is Mail => "subject" in mail;

/** Without `notifications`, it sends other mails only. Null when the deployment sends none, an INTERNAL_ERROR when it is set up wrongly. */
export function mailOutbox(env: Env, notifications: NotificationMails | null = null): MailOutbox | null {
  const settings = mailSettings(env);
  if (settings === null) return null;
  const { from, origin } = settings;
  const mailer = mailerFor(env, from);
  return new MailOutbox(origin, sealerFor(jwtSecrets(env), PURPOSE), mailer, notifications);
}

/** Sends what requests have left behind, and deletes what has expired. */
export async function continueMails(
  env: Env,
  now: number,
  notifications: NotificationMails | null = null,
): Promise<void> {
  const db = openDirectory(env);
  await expire(db, MAILS, now);
  const outbox = mailOutbox(env, notifications);
  if (outbox !== null) await new WorkBudget(CHUNKS_PER_RUN).run(() => outbox.send(db, now));
}
