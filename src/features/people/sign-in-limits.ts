/** Limits on guesses: signing in and up, changing a password, using an invitation, asking for mails. */

import { AppError } from "@atrium/contract/errors.ts";
import { KeyedLimits, reserve, TokenBucket } from "@atrium/contract/pacing/token-bucket.ts";
import { MINUTE_MS, SECOND_MS } from "@atrium/contract/time.ts";
import type { Env } from "../../env.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import { sleep } from "../../platform/flow/concurrency.ts";
import { openStub } from "../../platform/objects/rpc.ts";
import { readSetting, type Settings } from "../../platform/settings.ts";
import type { GuessLimitObject, PauseRule } from "./guess-limit-object.ts";

const rule = (free: number, firstMs: number, maxMs: number, forgetMs: number): PauseRule => ({
  free,
  firstMs,
  maxMs,
  forgetMs,
});

/** Wrong passwords of one person from one network, or from one browser that the person has signed in with. */
const PASSWORDS = rule(5, 2 * SECOND_MS, 15 * MINUTE_MS, 15 * MINUTE_MS);
/** Wrong passwords of all people and wrong invitations from one network. */
const NETWORK_FAILURES = rule(60, SECOND_MS, MINUTE_MS, 30 * SECOND_MS);
/** People who sign up without an invitation from one network. */
const NETWORK_SIGN_UPS = rule(60, SECOND_MS, MINUTE_MS, SECOND_MS);
/** Mails requested from one network, for any address. */
const NETWORK_MAILS = rule(10, 10 * SECOND_MS, 5 * MINUTE_MS, MINUTE_MS);
/** Mails to one address, requested from all networks: no one can fill another's mailbox. */
const ADDRESS_MAILS = rule(3, 5 * MINUTE_MS, 6 * 60 * MINUTE_MS, 60 * MINUTE_MS);

/** Rates of wrong passwords, of some 100 ms each: per client, per isolate, and a share for known browsers. */
const WRONG_OF_CLIENT = { perSecond: 0.1, burst: 5 };
const WRONG_OF_ALL = { perSecond: 1, burst: 20 };
const WRONG_OF_KNOWN = { perSecond: 0.25, burst: 5 };
/** A check that would wait longer is refused. */
const MAX_WAIT_MS = 5_000;
const MAX_CLIENTS = 10_000;

/** Token buckets of wrong passwords: wrong ones must not take the thread from everyone else. */
export function passwordBuckets() {
  const clients = new KeyedLimits((now) => new TokenBucket(WRONG_OF_CLIENT, now), MAX_CLIENTS);
  const all = new TokenBucket(WRONG_OF_ALL, 0);
  const known = new TokenBucket(WRONG_OF_KNOWN, 0);
  return (client: string, now: number, isKnown: boolean) => {
    const hasShare = isKnown && known.affordableIn(now) < all.affordableIn(now);
    const buckets = [clients.of(client, now), hasShare ? known : all];
    const waitMs = reserve(buckets, MAX_WAIT_MS, now);
    const isRefused = waitMs > MAX_WAIT_MS;
    return {
      /** Milliseconds until the check may start, or, when it is refused, until asking again is of use. */
      waitMs: isRefused ? waitMs - MAX_WAIT_MS : waitMs,
      isRefused,
      refund: (later: number) => {
        for (const bucket of buckets) bucket.spend(-1, later);
      },
    };
  };
}

/** A guess, counted before it is known whether it is right; a right one is forgiven. */
interface Guess {
  forgive(): Promise<unknown>;
}

export type SignInLimits = ReturnType<typeof signInLimits>;

const reserveCheck = passwordBuckets();

/**
 * Counts guesses of the clients of a network before anything is computed or read for them. Each throws RATE_LIMITED while
 * a pause lasts. If all clients share one address, passwords are limited by person alone.
 */
export function signInLimits(
  env: Pick<Env, "GUESS_LIMITS" | "SIGN_IN_ADDRESS_RATE_LIMIT"> & Settings,
  network: string,
) {
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
    /** A guess of a person's password. Guesses elsewhere hold up no known browser, and no other network. */
    countPassword: async (email: string, knownBrowser: string | null): Promise<Guess> => {
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
      return { forgive: () => Promise.all([onNetwork.forgive(), ofPerson.forgive()]) };
    },
    /**
     * Waits until the client may have a password checked; there is no wait unless many were wrong lately. All
     * clients share the buckets, so reserve just before the check. RATE_LIMITED when the wait would be too
     * long.
     */
    reservePasswordCheck: async (email: string, knownBrowser: string | null): Promise<Guess> => {
      const client = knownBrowser ?? (isShared ? await hashOf(email) : network);
      const check = reserveCheck(client, Date.now(), knownBrowser !== null);
      if (check.isRefused) throw tooMany(Math.ceil(check.waitMs / SECOND_MS));
      if (check.waitMs > 0) await sleep(check.waitMs);
      return { forgive: async () => check.refund(Date.now()) };
    },
    countSignUp: () => ofNetwork("sign-ups", NETWORK_SIGN_UPS),
    countInvitation: () => ofNetwork("failures", NETWORK_FAILURES),
    /** A mail to an address, whether a person has it or not. */
    countMail: async (email: string): Promise<void> => {
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
