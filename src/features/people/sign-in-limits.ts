/**
 * Limits on guesses: signing in and up, codes of second factors, changing a password, using an invitation, asking for mails. The objects that
 * count them hash and verify passwords, so no one has a password's work done without a guess that counts.
 */

import { AppError } from "@atrium/contract/errors.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "@atrium/contract/time.ts";
import type { Env } from "../../env.ts";
import { sha256 } from "../../platform/crypto/encoding.ts";
import { openStub } from "../../platform/objects/rpc.ts";
import { readSetting, type Settings } from "../../platform/settings.ts";
import type { GuessLimitObject, PasswordGuess, PauseRule } from "./guess-limit-object.ts";

const rule = (free: number, firstMs: number, maxMs: number, forgetMs: number): PauseRule => ({
  free,
  firstMs,
  maxMs,
  forgetMs,
});

/** Wrong passwords of one person from one network, or from one browser that the person has signed in with. */
const PASSWORDS = rule(5, 2 * SECOND_MS, 15 * MINUTE_MS, 15 * MINUTE_MS);
/**
 * Wrong codes of one person's second factor from all networks and browsers. Only a guesser who knows the password gets
 * here, and a code has six digits of which three are right at any time: 24 guesses a day find one in decades.
 */
const CODES = rule(5, 30 * SECOND_MS, HOUR_MS, HOUR_MS);
/** Wrong passwords of all people and wrong invitations from one network. */
const NETWORK_FAILURES = rule(60, SECOND_MS, MINUTE_MS, 30 * SECOND_MS);
/** People who sign up without an invitation from one network. */
const NETWORK_SIGN_UPS = rule(60, SECOND_MS, MINUTE_MS, SECOND_MS);
/** Mails requested from one network, for any address. */
const NETWORK_MAILS = rule(10, 10 * SECOND_MS, 5 * MINUTE_MS, MINUTE_MS);
/** Mails to one address, requested from all networks: no one can fill another's mailbox. */
const ADDRESS_MAILS = rule(3, 5 * MINUTE_MS, 6 * 60 * MINUTE_MS, 60 * MINUTE_MS);

/** Hashes a new password where the guess before it was counted. */
interface Hashing {
  hash(password: string): Promise<string>;
}

/** A guess, counted before it is known whether it is right; a right one is forgiven. */
interface Guess extends Hashing {
  forgive(): Promise<unknown>;
}

/** A guess of a password. */
interface PasswordCheck extends Hashing {
  /**
   * Counts the guess for the person or the known browser, and verifies the password; a right one is forgiven. Takes as
   * long when no hash is stored (null). RATE_LIMITED while a pause lasts, and when the wait for a check would be too
   * long.
   */
  verify(password: string, stored: string | null): Promise<boolean>;
}

export type SignInLimits = ReturnType<typeof signInLimits>;

/**
 * Counts guesses of the clients of a network before anything is computed for them. Each throws RATE_LIMITED while a
 * pause lasts. If all clients share one address, passwords are limited by person alone.
 */
export function signInLimits(
  env: Pick<Env, "GUESS_LIMITS" | "SIGN_IN_ADDRESS_RATE_LIMIT"> & Settings,
  network: string,
) {
  const isShared = readSetting(env, "CLIENT_ADDRESS") !== undefined;
  const open = (object: string) => openStub<GuessLimitObject>(env, env.GUESS_LIMITS, object);
  const hashIn = (object: string) => (password: string) => open(object).hashPassword(password);
  const count = async (object: string, key: string, rule: PauseRule): Promise<Guess> => {
    requireNoWait(await open(object).guess(key, rule));
    return { forgive: () => open(object).forgive(key), hash: hashIn(object) };
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
  const ofPasskeys = () => open(`network:${network}`);
  const checkIn = (
    object: string,
    guess: Omit<PasswordGuess, "rule">,
    onNetwork: Guess | null = null,
  ): PasswordCheck => ({
    verify: async (password, stored) => {
      const rule = PASSWORDS;
      const { waitMs, isRight } = await open(object).verifyPassword({ ...guess, rule }, password, stored);
      requireNoWait(waitMs);
      if (isRight) await onNetwork?.forgive();
      return isRight;
    },
    hash: hashIn(object),
  });
  return {
    /** A guess of a person's password. Guesses elsewhere hold up no known browser, and no other network. */
    countPassword: async (email: string, knownBrowser: string | null): Promise<PasswordCheck> => {
      if (knownBrowser !== null) {
        await countFlood(knownBrowser);
        const guess = { key: "passwords", client: knownBrowser, isKnown: true };
        return checkIn(`browser:${knownBrowser}`, guess);
      }
      const person = `person:${await hashOf(email)}`;
      if (isShared) {
        await countFlood(person);
        return checkIn(person, { key: network, client: person, isKnown: false });
      }
      const onNetwork = await ofNetwork("failures", NETWORK_FAILURES);
      return checkIn(person, { key: network, client: network, isKnown: false }, onNetwork);
    },
    /** A guess of a code of a person's second factor. */
    countCode: async (email: string): Promise<Guess> =>
      count(`person:${await hashOf(email)}`, "codes", CODES),
    countSignUp: () => ofNetwork("sign-ups", NETWORK_SIGN_UPS),
    countInvitation: () => ofNetwork("failures", NETWORK_FAILURES),
    /**
     * A use of a passkey, which no one guesses: where all clients share one address, a stranger could only hold up the
     * others, so none is counted.
     */
    countPasskey: async () => {
      const onNetwork = isShared ? null : await ofNetwork("failures", NETWORK_FAILURES);
      return {
        verify: (...use: Parameters<GuessLimitObject["verifyPasskeyUse"]>) =>
          ofPasskeys().verifyPasskeyUse(...use),
        forgive: async () => onNetwork?.forgive(),
      };
    },
    /** Verifies a passkey of a person who has proved themselves, which has counted. */
    verifyNewPasskey: (...made: Parameters<GuessLimitObject["verifyNewPasskey"]>) =>
      ofPasskeys().verifyNewPasskey(...made),
    /** A mail to an address, whether a person has it or not. */
    countMail: async (email: string): Promise<void> => {
      await ofNetwork("mails", NETWORK_MAILS);
      await count(`person:${await hashOf(email)}`, "mails", ADDRESS_MAILS);
    },
  };
}

const hashOf = (email: string): Promise<string> => sha256(new TextEncoder().encode(email));

const requireNoWait = (waitMs: number): void => {
  if (waitMs > 0) throw tooMany(Math.ceil(waitMs / SECOND_MS));
};

const tooMany = (seconds: number) =>
  new AppError(
    "Server",
    "RATE_LIMITED",
    `Too many attempts; wait ${seconds === 1 ? "a second" : `${seconds} seconds`} and try again`,
    seconds,
  );
