/** Users' tokens: deterministic, and refused in any other form. */

import type { Role } from "@atrium/contract/resources/user.ts";
import type { IssuedToken, UserWithToken } from "@atrium/contract/rest/users.ts";
import { TOKEN_LIFETIME_SECONDS } from "@atrium/contract/token-seconds.ts";
import fc from "fast-check";
import { base64url, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { tokensFor } from "../../src/features/users/tokens.ts";
import { isTokenOf, newTerms } from "../../src/platform/token-claims.ts";
import { joinWith } from "../room/support/join.ts";
import type { TestSocket } from "../room/support/test-socket.ts";
import { account } from "../support/api.ts";

const SECRET = "a secret that is long enough to sign with";
const OTHER_SECRET = "another secret, equally long, of a stranger";
const NOW = Date.UTC(2026, 0, 31);
const USER = {
  ...({ id: "u", accountId: "a", roomId: "r", role: "editor", createdAt: NOW - 5_432 } as const),
  ...{ tokenEpoch: 0, accountTokenEpoch: 0, identityId: null, identityEpoch: null },
};

const tokens = tokensFor([SECRET]);
const verify = (token: string, now = NOW) => tokens.verify(token, now);

/** Signs anything with the real secret, as a thief of the secret would. */
async function forge(payload: Record<string, unknown>): Promise<string> {
  const kid = JSON.parse(
    new TextDecoder().decode(base64url.decode((await tokens.sign(USER)).split(".")[0] ?? "")),
  ).kid;
  return new SignJWT(payload)
    .setProtectedHeader({ alg: "HS256", typ: "JWT", kid })
    .sign(new TextEncoder().encode(SECRET));
}

const iat = Math.floor(USER.createdAt / 1000);
const CLAIMS = {
  accountId: "a",
  userId: "u",
  roomId: "r",
  role: "editor",
  iat,
  exp: iat + TOKEN_LIFETIME_SECONDS.max,
};
/** The claims that verification returns. */
const VERIFIED = {
  ...{ ...CLAIMS, role: "editor" as const, narrowed: false },
  ...{ userEpoch: 0, accountEpoch: 0, identityEpoch: 0 },
};

describe("a token", () => {
  it("is the same each time, for any user", async () => {
    const user = fc.record({
      id: fc.string(),
      accountId: fc.string(),
      roomId: fc.string(),
      role: fc.constantFrom("editor" as const, "viewer" as const),
      createdAt: fc.integer({ min: 0, max: NOW }),
      tokenEpoch: fc.integer({ min: 0, max: NOW }),
      accountTokenEpoch: fc.integer({ min: 0, max: NOW }),
      identityId: fc.constant("i"),
      identityEpoch: fc.integer({ min: 0, max: NOW }),
    });
    await fc.assert(
      fc.asyncProperty(user, async (subject) => {
        const token = await tokens.sign(subject);
        expect(await tokensFor([SECRET]).sign(subject)).toBe(token);
        const { createdAt, tokenEpoch, accountTokenEpoch, identityEpoch } = subject;
        const claims = await verify(token, Math.max(createdAt, tokenEpoch, accountTokenEpoch, identityEpoch));
        expect(claims !== null && isTokenOf(claims, subject)).toBe(true);
      }),
    );
  });

  it("names the account, room, user, role and lifetime", async () => {
    expect(await verify(await tokens.sign(USER))).toEqual(VERIFIED);
  });

  it("is refused with any one character changed", async () => {
    const token = await tokens.sign(USER);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ";
    const mutation = fc.record({
      at: fc.integer({ min: 0, max: token.length - 1 }),
      to: fc.constantFrom(...alphabet),
      how: fc.constantFrom("replace", "insert", "delete"),
    });
    await fc.assert(
      fc.asyncProperty(mutation, async ({ at, to, how }) => {
        const rest = token.slice(how === "insert" ? at : at + 1);
        const mutant = token.slice(0, at) + (how === "delete" ? "" : to) + rest;
        fc.pre(mutant.trim() !== token); // blanks around a credential are no part of it
        expect(await verify(mutant)).toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });

  it("is refused in every spelling of its last character but one", async () => {
    const token = await tokens.sign(USER);
    const others = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].filter(
      (c) => c !== token.at(-1),
    );
    for (const char of others) expect(await verify(token.slice(0, -1) + char)).toBeNull();
  });

  it("of more than 2,048 characters is refused before it is verified, even with our signature", async () => {
    const padded = (length: number) => forge({ ...CLAIMS, padding: "x".repeat(length) });
    const short = await padded(1_000);
    const long = await padded(1_500);
    expect([short.length <= 2_048, long.length > 2_048]).toEqual([true, true]);
    expect(await verify(short)).toEqual(VERIFIED);
    expect(await verify(long)).toBeNull();
  });

  it("expires 90 days after its user's creation", async () => {
    const token = await tokens.sign(USER);
    expect(await verify(token, CLAIMS.exp * 1000 - 1)).toEqual(VERIFIED);
    expect(await verify(token, CLAIMS.exp * 1000)).toBeNull();
  });

  it("outlives the rotation of the secret by which it was signed, and no longer", async () => {
    const token = await tokens.sign(USER);
    const rotated = tokensFor([OTHER_SECRET, SECRET]);
    expect(await rotated.verify(token, NOW)).toEqual(VERIFIED);
    expect(await rotated.sign(USER)).not.toBe(token);
    expect(await tokensFor([OTHER_SECRET]).verify(token, NOW)).toBeNull();
  });

  it.each([
    ["another account", { accountId: "b" }],
    ["another room", { roomId: "s" }],
    ["another user", { id: "v" }],
    ["a later creation", { createdAt: USER.createdAt + 1_000 }],
    ["a later epoch", { tokenEpoch: 1 }],
    ["a later epoch of the organization", { accountTokenEpoch: 1 }],
  ] as const)("is not that of a user with %s", async (_, change) => {
    expect(isTokenOf(VERIFIED, USER)).toBe(true);
    expect(isTokenOf(VERIFIED, { ...USER, ...change })).toBe(false);
  });

  it("begins anew with each ending, for 90 days, whatever the clock says", async () => {
    const ended = { ...USER, tokenEpoch: NOW };
    const endedAgain = { ...USER, tokenEpoch: NOW + 1 };
    const endedForAll = { ...USER, tokenEpoch: NOW, accountTokenEpoch: NOW - 1 };
    const all = await Promise.all([USER, ended, endedAgain, endedForAll].map((user) => tokens.sign(user)));
    expect(new Set(all).size).toBe(4);
    const claims = await verify(await tokens.sign(ended));
    expect(claims).toMatchObject({
      iat: NOW / 1000,
      exp: NOW / 1000 + TOKEN_LIFETIME_SECONDS.max,
      userEpoch: NOW,
    });
    for (const user of [USER, endedAgain, endedForAll]) expect(claims && isTokenOf(claims, user)).toBe(false);
  });
});

describe("a short-lived token", () => {
  it("is its user's for its time, with the role it was given", async () => {
    const terms = newTerms(USER, NOW, 60, "viewer");
    const token = await tokens.signShortLived(USER, terms);
    expect(await tokens.signShortLived(USER, terms)).toBe(token);
    const claims = await verify(token);
    expect(claims).toEqual({
      ...VERIFIED,
      role: "viewer",
      narrowed: true,
      iat: NOW / 1000,
      exp: NOW / 1000 + 60,
    });
    expect(claims && isTokenOf(claims, USER)).toBe(true);
    expect(await verify(token, NOW + 59_999)).toEqual(claims);
    expect(await verify(token, NOW + 60_000)).toBeNull();
  });

  it("never begins before its user, even where the clock is slow", () => {
    expect(newTerms(USER, USER.createdAt - 30_000, 60).issuedAt).toBe(iat);
  });

  it.each([59, TOKEN_LIFETIME_SECONDS.max + 1])(
    "is refused with a life of %i s, even signed by us",
    async (life) => {
      expect(await verify(await forge({ ...CLAIMS, exp: iat + life }))).toBeNull();
    },
  );
});

async function setUp(role: Role) {
  const { id, api } = await account();
  const room = await api.createRoom();
  const user = await api.createUser(room.id, { role });
  const path = `/users/${user.id}?roomId=${room.id}`;
  return {
    api,
    user,
    setRole: async (next: Role) => (await api.patch<{ user: UserWithToken }>(path, { role: next })).data.user,
    issue: async (body: object) =>
      (await api.post<IssuedToken>(`/users/${user.id}/tokens?roomId=${room.id}`, body)).data.token,
    async join(token: string, data: object = {}) {
      const { socket, joined } = await joinWith(id, room.id, token, data);
      return { socket, role: joined.role };
    },
  };
}

const write = { store: "tasks", key: "milk", value: 1 };

const codeOf = async (socket: TestSocket): Promise<string | undefined> =>
  (await socket.call("STORE_SET", write)).error?.code;

describe("a changed role", () => {
  it("holds on open connections before the change is answered, and each receives it", async () => {
    const { user, setRole, join } = await setUp("editor");
    const { socket } = await join(user.token);
    expect(await codeOf(socket)).toBeUndefined();
    expect((await setRole("viewer")).role).toBe("viewer");
    expect(await codeOf(socket)).toBe("FORBIDDEN");
    await setRole("editor");
    expect(await codeOf(socket)).toBeUndefined();
    const events = await socket.takeEvents();
    expect(events.filter(({ event }) => event === "roleChanged").map(({ data }) => data)).toEqual([
      { role: "viewer" },
      { role: "editor" },
    ]);
  });

  it("holds for tokens that the user has already, in joins and over REST", async () => {
    const { api, user, issue, setRole, join } = await setUp("editor");
    const short = await issue({ ttl: 60 });
    await setRole("viewer");
    const deletion = { key: "r/k/uploads/f" };
    for (const token of [user.token, short]) {
      expect((await join(token)).role).toBe("viewer");
      expect((await api.as(token).json("DELETE", "/upload", deletion)).status).toBe(403);
    }
    await setRole("editor");
    for (const token of [user.token, short]) {
      expect((await join(token)).role).toBe("editor");
      expect((await api.as(token).json("DELETE", "/upload", deletion)).status).toBe(404);
    }
  });

  it("raises neither a token nor a connection that asked for less", async () => {
    const { api, user, issue, setRole, join } = await setUp("viewer");
    const narrow = await issue({ ttl: 60, role: "viewer" });
    const sockets = [await join(narrow), await join(user.token, { role: "viewer" })];
    await setRole("editor");
    for (const { socket } of sockets) expect(await codeOf(socket)).toBe("FORBIDDEN");
    expect((await join(narrow)).role).toBe("viewer");
    expect((await api.as(narrow).json("DELETE", "/upload", { key: "r/k/uploads/f" })).status).toBe(403);
    expect((await join(user.token)).role).toBe("editor");
  });
});
