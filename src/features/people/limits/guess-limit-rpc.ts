/** The RPC interface of the objects that count guesses. */
import type { PauseRule } from "./pause.ts";

export interface GuessLimitRpc extends Rpc.DurableObjectBranded {
  /** Counts a guess, and returns 0; or the milliseconds to wait, and counts nothing. */
  guess(key: string, rule: PauseRule): number;
  /** Takes back the latest guess, or with `all` every one, because it was right. */
  forgive(key: string, all: boolean): void;
}
