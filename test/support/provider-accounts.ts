/** The accounts and the clients of the tests' OpenID Connect provider. */

/** What the provider says of a person. Its ID of the person is this as Base64url JSON. */
export interface TestAccount {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  /** Tells accounts with the same claims apart. */
  readonly n?: number;
}

export const subjectOf = (account: TestAccount): string =>
  Buffer.from(JSON.stringify(account)).toString("base64url");

export const accountOf = (subject: string): object =>
  JSON.parse(Buffer.from(subject, "base64url").toString()) as object;

export const CLIENT = { id: "atrium", secret: "a secret of the tests' provider", publicId: "atrium-public" };
