/**
 * Forged and damaged tokens, of every kind that this service signs. The cases follow Wycheproof's vectors for JSON web
 * signatures (C2SP/wycheproof, Apache License 2.0) and RFC 8725; each token is made here, from one that is valid.
 */

import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { IDENTITY_TOKEN_SECONDS, TOKEN_LIFETIME_SECONDS } from "@atrium/contract/token-seconds.ts";
import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { tokensFor } from "../../src/features/users/tokens.ts";

const SECRET = "a secret that is long enough to sign with";
const NOW = Date.UTC(2026, 0, 31);
const SECONDS = NOW / 1000;
const tokens = tokensFor([SECRET]);

const textOf = (part: string): string => new TextDecoder().decode(base64url.decode(part));
const mac = (secret: string, text: string, hash = "sha256"): string =>
  createHmac(hash, secret).update(text).digest("base64url");

/** Signs any header and payload, each as JSON or as text, by the service's own secret or another one. */
function signed(header: object | string, payload: object | string, secret = SECRET, hash = "sha256"): string {
  const text = [header, payload]
    .map((part) => base64url.encode(typeof part === "string" ? part : JSON.stringify(part)))
    .join(".");
  return `${text}.${mac(secret, text, hash)}`;
}

/** A valid token, whole and in its parts. */
interface Valid {
  readonly token: string;
  readonly parts: readonly [header: string, payload: string, signature: string];
  readonly header: Record<string, unknown>;
  readonly claims: Record<string, unknown>;
  readonly kind: Kind;
}

/** A kind of token. */
interface Kind {
  readonly token: () => Promise<string>;
  readonly verify: (token: string) => Promise<object | null>;
  readonly maxSeconds: number;
  readonly optional: readonly string[];
  /** Changes of claims that make a token invalid. */
  readonly wrong: readonly object[];
}

/** Tokens that a stranger can make from a valid one. */
const FORGED: Readonly<Record<string, (valid: Valid) => readonly string[]>> = {
  "no algorithm": ({ header, parts: [, payload, signature] }) =>
    ["none", "None", "nOnE", ""].flatMap((alg) => {
      const text = `${base64url.encode(JSON.stringify({ ...header, alg }))}.${payload}`;
      return [`${text}.`, text, `${text}.${signature}`, `${text}.${mac("", text)}`];
    }),
  "a secret that anyone knows": ({ header, claims, parts }) =>
    ["", "\0", "secret", String(header.kid), parts[0], textOf(parts[0]), "null", "undefined"].map((secret) =>
      signed(header, claims, secret),
    ),
  "a key of the forger": ({ header, claims }) => {
    const pairs = {
      ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
      RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
    };
    return Object.entries(pairs).flatMap(([alg, { privateKey, publicKey }]) =>
      [alg, "HS256"].map((named) => {
        const jwk = publicKey.export({ format: "jwk" });
        const head = JSON.stringify({ ...header, alg: named, jwk, jku: "https://example.com/keys" });
        const text = `${base64url.encode(head)}.${base64url.encode(JSON.stringify(claims))}`;
        const key = privateKey.export({ type: "pkcs8", format: "pem" });
        return `${text}.${base64url.encode(sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }))}`;
      }),
    );
  },
  "a changed part": ({ header, claims, parts: [head, payload, signature] }) => [
    `${base64url.encode(JSON.stringify({ ...header, x: 1 }))}.${payload}.${signature}`,
    `${head}.${base64url.encode(JSON.stringify({ ...claims, role: "viewer" }))}.${signature}`,
    `${head}.${payload}.${mac(SECRET, payload)}`,
    `${head}.${payload}.${"A".repeat(43)}`,
    `${head}.${payload}.${signature.toLowerCase()}`,
  ],
  "parts that are missing, empty or too many": ({ token, parts: [head, payload, signature] }) => [
    ...["", ".", "..", "...", "e30.e30.", "e30.e30.e30", head, payload, signature, `${head}.${payload}`],
    ...[`${head}.${payload}.`, `${head}..${signature}`, `.${payload}.${signature}`, `${head}.${signature}`],
    ...[`${payload}.${signature}`, `..${signature}`, `${token}.`, `.${token}`, `${token}.e30`],
    ...[`${head}.${head}.${payload}.${signature}`, `${token}.${token}`, `${head}.e30.e30.e30.${signature}`],
    ...["a.b.c", "\u{1f4a5}.\u{1f4a5}.\u{1f4a5}", "x".repeat(100_000)],
    JSON.stringify({ payload, protected: head, signature }),
    JSON.stringify({ payload, signatures: [{ protected: head, signature }] }),
  ],
  "a signature that is cut or continued": ({ token, parts: [head, payload, signature] }) => {
    const bytes = base64url.decode(signature);
    const lengths = [1, 15, 16, 20, 31].map((length) => bytes.slice(0, length));
    return [
      ...[...lengths, new Uint8Array([...bytes, 0]), new Uint8Array([0, ...bytes]), bytes.toReversed()].map(
        (changed) => `${head}.${payload}.${base64url.encode(changed)}`,
      ),
      `${token}${signature}`,
      `${token}A`,
    ];
  },
  "another spelling of Base64": ({ token, parts: [head, payload, signature] }) => [
    ...["=", "==", "%3D", "\0", "?", "#", "~", "é"].flatMap((text) => [
      ...[`${token}${text}`, `${head}${text}.${payload}.${signature}`],
      `${head}.${payload}${text}.${signature}`,
    ]),
    `${head}.${payload}.${signature.slice(0, -1)}${{ A: "B", Q: "R", g: "h", w: "x" }[signature.at(-1) ?? ""] ?? "_"}`,
    [...token].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(""),
  ],
  "white space inside, or beside it where no one types any": ({ token, parts }) => [
    ...["\u200b", "\0"].flatMap((space) => [space + token, token + space]),
    ...[" ", "\t", "\n", "\r\n", "\u00a0", "\u200b", "\u2028", "\ufeff"].flatMap((space) => [
      ...[parts.join(`.${space}`), parts.join(`${space}.`)],
      token.slice(0, -5) + space + token.slice(-5),
      token.slice(0, 5) + space + token.slice(5),
    ]),
  ],
  "dots and letters of Unicode": ({ token, parts }) => [
    ...["\u2024", "\u3002", "\uff0e", "\uff61", "\u00b7", "%2e", "\u002e\u0301"].map((dot) =>
      parts.join(dot),
    ),
    token.replace("e", "\uff45"),
    token.replace("y", "\u0443"),
  ],
};

/** Tokens of a leaked secret, or of a faulty signer: all have the service's own signature. */
const SIGNED: Readonly<Record<string, (valid: Valid) => readonly string[]>> = {
  "another type, or none": ({ header, claims }) =>
    [
      "at+jwt",
      "JOSE",
      "JWE",
      "secevent+jwt",
      header.typ === "JWT" ? "atrium-identity+jwt" : "JWT",
      "",
      null,
      undefined,
      7,
      [header.typ],
      { typ: header.typ },
    ].map((typ) => signed({ ...header, typ }, claims)),
  "another key's ID": ({ header, claims }) =>
    [
      ...[
        "",
        "00000000",
        "../../../dev/null",
        "' OR 1=1 --",
        "__proto__",
        `${header.kid} `,
        `${header.kid}`.toUpperCase(),
      ],
      ...[[header.kid], { kid: header.kid }, null, undefined, 0, true],
    ].map((kid) =>
      signed({ ...header, kid: kid === `${header.kid}`.toUpperCase() ? `${kid}x` : kid }, claims),
    ),
  "another algorithm": ({ header, claims }) => [
    ...(["HS384", "HS512"] as const).map((alg) =>
      signed({ ...header, alg }, claims, SECRET, alg.replace("HS", "sha")),
    ),
    ...["HS256 ", "hs256", "RS256", "ES256", "PS256", "EdDSA", "A128KW", "dir", null, 256, ["HS256"]].map(
      (alg) => signed({ ...header, alg }, claims),
    ),
    signed(`{"alg":"HS256",${JSON.stringify({ ...header, alg: "none" }).slice(1)}`, claims),
  ],
  "a critical header": ({ header, claims }) =>
    [["exp"], ["b64"], ["x"], ["alg"], [], "b64", {}, null].map((crit) =>
      signed({ ...header, crit, b64: false, exp: claims.exp, x: 1 }, claims),
    ),
  "a header that is no object": ({ claims }) =>
    ["", "[]", "null", '"HS256"', "1", "{", "\ufeff{}"].map((header) => signed(header, claims)),
  "a payload that is no object": ({ header, claims, token }) =>
    [
      ...["", "[]", "null", "1", '"text"', "{", "{}", "foo", token, JSON.stringify(token)],
      ...[JSON.stringify([claims]), `${JSON.stringify(claims)}x`, JSON.stringify({ payload: claims })],
    ].flatMap((payload) => [signed(header, payload), signed({ ...header, cty: "JWT" }, payload)]),
  "an impossible time": ({ header, claims, kind }) => {
    const [iat, exp] = [Number(claims.iat), Number(claims.exp)];
    return [
      ...[0, -1, 1e300, 2 ** 53, exp + 0.5, `${exp}`, null, undefined, [exp], true].map((wrong) => ({
        exp: wrong,
      })),
      ...[iat + 0.5, `${iat}`, null, undefined, [iat], true, -1e300].map((wrong) => ({ iat: wrong })),
      ...[SECONDS + 3_600, 1e300, "soon"].map((nbf) => ({ nbf })),
      { iat: SECONDS + 3_600, exp: SECONDS + 3_600 + (exp - iat) },
      { exp: iat + 1 },
      { exp: iat },
      { exp: iat - 1 },
      { exp: iat + kind.maxSeconds + 1 },
    ].map((change) => signed(header, { ...claims, ...change }));
  },
  "claims of other types": ({ header, claims, kind }) =>
    Object.keys(claims)
      .filter((name) => name !== "iat" && name !== "exp")
      .flatMap((name): object[] =>
        [null, 7, true, [claims[name]], { id: claims[name] }, undefined]
          .slice(0, kind.optional.includes(name) ? -1 : undefined)
          .map((value) => ({ [name]: value })),
      )
      .concat(kind.wrong)
      .map((change) => signed(header, { ...claims, ...change })),
};

const USER = {
  ...({ id: "u", accountId: "a", roomId: "r", role: "editor", createdAt: NOW - 5_432 } as const),
  ...{ tokenEpoch: 0, accountTokenEpoch: 0, identityId: null, identityEpoch: null },
};

const IDENTITY = {
  ...{ accountId: "a", identityId: "i", accountEpoch: 0, identityEpoch: 0 },
  ...{ iat: SECONDS - 5, exp: SECONDS + 895, rooms: ["plan-*"], permissions: ["*:read" as const] },
};

const KINDS: Readonly<Record<string, Kind>> = {
  "a user": {
    token: () => tokens.sign(USER),
    verify: (token) => tokens.verify(token, NOW),
    maxSeconds: TOKEN_LIFETIME_SECONDS.max,
    optional: [],
    wrong: [{ role: "owner" }, { narrowed: "yes" }, { userEpoch: "0" }, { accountEpoch: 0.5 }],
  },
  "an identity": {
    token: () => tokens.signIdentity(IDENTITY),
    verify: (token) => tokens.verifyIdentity(token, NOW),
    maxSeconds: IDENTITY_TOKEN_SECONDS.max,
    optional: ["rooms", "permissions"],
    wrong: [{ permissions: ["*:own"] }, { rooms: [7] }, { identityEpoch: "0" }, { accountEpoch: 0.5 }],
  },
};

async function valid(kind: Kind): Promise<Valid> {
  const token = await kind.token();
  const parts = token.split(".") as unknown as Valid["parts"];
  const [header, claims] = [JSON.parse(textOf(parts[0])), JSON.parse(textOf(parts[1]))];
  return { token, parts, header, claims, kind };
}

describe.each(Object.entries(KINDS))("a token of %s", (_, kind) => {
  const acceptedOf = async (forged: readonly string[]) => {
    const accepted: string[] = [];
    for (const text of forged) if ((await kind.verify(text)) !== null) accepted.push(text);
    return accepted;
  };

  it("is valid as it was made, and made anew by the same secret", async () => {
    const { header, claims, token } = await valid(kind);
    expect(signed(header, claims)).toBe(token);
    expect(await kind.verify(token)).toMatchObject(claims);
  });

  it.each(Object.entries({ ...FORGED, ...SIGNED }))("is refused with %s", async (_case, forge) => {
    expect(await acceptedOf(forge(await valid(kind)))).toEqual([]);
  });

  it("is neither one of another kind, nor has the claims of one", async () => {
    const { header } = await valid(kind);
    for (const other of Object.values(KINDS).filter((each) => each !== kind)) {
      const { token, claims } = await valid(other);
      expect(await acceptedOf([token, signed(header, claims)])).toEqual([]);
    }
  });

  it("has the last of two claims with the same name, as JSON has it", async () => {
    const { header, claims } = await valid(kind);
    const twice = `{"accountId":"b",${JSON.stringify(claims).slice(1)}`;
    expect(await kind.verify(signed(header, twice))).toMatchObject({ accountId: claims.accountId });
  });
});
