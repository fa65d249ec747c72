/** The operator's token of a command: that its hash is in the database shows that the command may write there. */
import {
  createOperatorToken,
  OPERATOR_TOKEN_LIFETIME_MS,
  operatorTokenHash,
} from "../../features/backup/token-store.ts";

export class OperatorToken {
  readonly #write: (hash: string, expiresAt: number) => Promise<void>;
  #token: Promise<string> = Promise.resolve("");
  #renewAt = 0;

  /** `write` writes the hash of a token to the database, valid until then (epoch ms). */
  constructor(write: (hash: string, expiresAt: number) => Promise<void>) {
    this.#write = write;
  }

  /** Written when it is needed first, and another one before that expires; those who ask meanwhile wait for it. */
  current(): Promise<string> {
    if (Date.now() > this.#renewAt) {
      this.#renewAt = Date.now() + (3 * OPERATOR_TOKEN_LIFETIME_MS) / 4;
      this.#token = this.#renew();
    }
    return this.#token;
  }

  /** Only the hash is in the statement, which the process list shows. */
  async #renew(): Promise<string> {
    const token = createOperatorToken();
    try {
      await this.#write(await operatorTokenHash(token), Date.now() + OPERATOR_TOKEN_LIFETIME_MS);
    } catch (error) {
      this.#renewAt = 0;
      throw error;
    }
    return token;
  }
}
