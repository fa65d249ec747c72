/** Limits on guesses: signing in and up, changing a password, using an invitation, asking for mails. */

import type { Env } from "../../env.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import { AppError } from "../../platform/errors.ts";
import { sleep } from "../../platform/flow/concurrency.ts";
import { KeyedLimits, TokenBucket, takeTurn } from "../../platform/flow/token-bucket.ts";
import { openStub } from "../../platform/objects/rpc.ts";
import { readSetting, type Settings } from "../../platform/settings.ts";
import { MINUTE_MS, SECOND_MS } from "../../platform/time.ts";
import type { GuessLimitObject, PauseRule } from "./guess-limit-object.ts";

/** Wrong passwords of one person from one network, or from one browser that the person has signed in with. */
const PASSWORDS: PauseRule = {
  free: 5,
  firstMs: 2 * SECOND_MS,
  maxMs: 15 * MINUTE_MS,
  forgetMs: 15 * MINUTE_MS,
};
/** Wrong passwords of all people and wrong invitations from one network. */
const NETWORK_FAILURES: PauseRule = {
  free: 60,
  firstMs: SECOND_MS,
  maxMs: MINUTE_MS,
  forgetMs: 30 * SECOND_MS,
};
/** People who sign up without an invitation from one network. */
const NETWORK_SIGN_UPS: PauseRule = { ...NETWORK_FAILURES, forgetMs: SECOND_MS };

/** Mails that people ask for from one network, whomever they are for. */
const NETWORK_MAILS: PauseRule = {
  free: 10,
  firstMs: 10 * SECOND_MS,
  maxMs: 5 * MINUTE_MS,
  forgetMs: MINUTE_MS,
};
/** Mails to one address, asked for from all networks together: no one can fill another's mailbox. */
const ADDRESS_MAILS: PauseRule = {
  free: 3,
  firstMs: 5 * MINUTE_MS,
  maxMs: 6 * 60 * MINUTE_MS,
  forgetMs: 60 * MINUTE_MS,
};

/**
 * Rates of wrong passwords: of one client, of all clients of an isolate, and beside those of browsers that their person
 * has signed in with, which strangers on many networks cannot use up. A check takes some 100 ms of the isolate's thread.
 */
const WRONG_OF_CLIENT = { perSecond: 0.1, burst: 5 };
const WRONG_OF_ALL = { perSecond: 1, burst: 20 };
const WRONG_OF_KNOWN = { perSecond: 0.25, burst: 5 };
/** A check that would wait longer is refused. */
const MAX_WAIT_MS = 5_000;
const MAX_CLIENTS = 10_000;

/** Token buckets of wrong passwords: wrong ones must not take the thread from everyone else. */
export class WrongPasswords {
  readonly #clients = new KeyedLimits((now) => new TokenBucket(WRONG_OF_CLIENT, now), MAX_CLIENTS);
  readonly #all = new TokenBucket(WRONG_OF_ALL, 0);
  readonly #known = new TokenBucket(WRONG_OF_KNOWN, 0);

  /** Takes a client's turn for a check at `now` (epoch ms); when it is refused, asking again sooner is of no use. */
  take(client: string, now: number, isKnown: boolean): PasswordTurn | { readonly refusedForMs: number } {
    const hasShare = isKnown && this.#known.affordableIn(now) < this.#all.affordableIn(now);
    const buckets = [this.#clients.of(client, now), hasShare ? this.#known : this.#all];
    const waitMs = takeTurn(buckets, MAX_WAIT_MS, now);
    if (waitMs > MAX_WAIT_MS) return { refusedForMs: waitMs - MAX_WAIT_MS };
    return {
      waitMs,
      refund: (later) => {
        for (const bucket of buckets) bucket.spend(-1, later);
      },
    };
  }
}

interface PasswordTurn {
  /** Milliseconds until the check may start. */
  readonly waitMs: number;
  /** The password was right. */
  refund(now: number): void;
}

/** A guess, counted before it is known whether it is right. */
interface Guess {
  /** Takes the count back, because it was right. */
  forgive(): Promise<void>;
}

/** Counts guesses before anything is computed or read for them. Each throws RATE_LIMITED while a pause lasts. */
export interface SignInLimits {
  /**
   * A guess of the password of the person with this address. What strangers do elsewhere does not count
   * against a browser that the person has signed in with, or against another network.
   */
  countPassword(email: string, knownBrowser: string | null): Promise<Guess>;
  /**
   * Waits until the client may have a password checked, which it may at once unless there were many wrong ones lately.
   * All clients share the turns: take one just before the check, when nothing else can refuse the client. RATE_LIMITED
   * when that would take too long.
   */
  takeTurn(email: string, knownBrowser: string | null): Promise<Guess>;
  /** Signing up without an invitation. */
  countSignUp(): Promise<Guess>;
  /** A guess of an invitation's token. */
  countInvitation(): Promise<Guess>;
  /** A mail to an address, whether a person has it or not. */
  countMail(email: string): Promise<void>;
}

const wrongPasswords = new WrongPasswords();

/**
 * The limits for the clients of a network. Where all clients have one address, passwords are limited for each person
 * alone, or a stranger would hold up everyone.
 */
export function signInLimits(
  env: Pick<Env, "GUESS_LIMITS" | "SIGN_IN_ADDRESS_RATE_LIMIT"> & Settings,
  network: string,
): SignInLimits {
  const isShared = readSetting(env, "CLIENT_ADDRESS") !== undefined;
  const count = async (object: string, key: string, rule: PauseRule, all = false): Promise<Guess> => {
    const stub = openStub<GuessLimitObject>(env.GUESS_LIMITS, object);
    const waitMs = await stub.guess(key, rule);
    if (waitMs > 0) throw tooMany(Math.ceil(waitMs / SECOND_MS));
    return { forgive: async () => stub.forgive(key, all) };
  };
  /** Per location, but at no cost: keeps floods away from the objects. */
  const countFlood = async (client: string): Promise<void> => {
    const { success } = await env.SIGN_IN_ADDRESS_RATE_LIMIT.limit({ key: client });
    if (!success) throw tooMany(60);
  };
  const ofNetwork = async (key: string, rule: PauseRule): Promise<Guess> => {
    await countFlood(network);
    return count(`network:${network}`, key, rule);
  };
  return {
    countPassword: async (email, knownBrowser) => {
      if (knownBrowser !== null) {
        await countFlood(knownBrowser);
        return count(`browser:${knownBrowser}`, "passwords", PASSWORDS, true);
      }
      const person = `person:${await hashOf(email)}`;
      if (isShared) {
        await countFlood(person);
        return count(person, network, PASSWORDS, true);
      }
      const onNetwork = await ofNetwork("failures", NETWORK_FAILURES);
      const ofPerson = await count(person, network, PASSWORDS, true);
      return {
        forgive: async () => {
          await Promise.all([onNetwork.forgive(), ofPerson.forgive()]);
        },
      };
    },
    takeTurn: async (email, knownBrowser) => {
      const client = knownBrowser ?? (isShared ? await hashOf(email) : network);
      const turn = wrongPasswords.take(client, Date.now(), knownBrowser !== null);
      if ("refusedForMs" in turn) throw tooMany(Math.ceil(turn.refusedForMs / SECOND_MS));
      if (turn.waitMs > 0) await sleep(turn.waitMs);
      return { forgive: async () => turn.refund(Date.now()) };
    },
    countSignUp: () => ofNetwork("sign-ups", NETWORK_SIGN_UPS),
    countInvitation: () => ofNetwork("failures", NETWORK_FAILURES),
    countMail: async (email) => {
      await ofNetwork("mails", NETWORK_MAILS);
      await count(`person:${await hashOf(email)}`, "mails", ADDRESS_MAILS);
    },
  };
}

const hashOf = (email: string): Promise<string> => sha256(new TextEncoder().encode(email));

const tooMany = (seconds: number) =>
  new AppError(
    "Server",
    "RATE_LIMITED",
    `Too many attempts; wait ${seconds === 1 ? "a second" : `${seconds} seconds`} and try again`,
    seconds,
  );
