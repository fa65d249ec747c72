/** The failure of a call of Cloudflare's API for scripts. */

/** The API refused a call or did not answer it. The message is for the operator and contains no secret. */
export class NamespaceError extends Error {
  readonly codes: readonly number[];

  constructor(message: string, codes: readonly number[] = []) {
    super(message);
    this.name = "NamespaceError";
    this.codes = codes;
  }
}
