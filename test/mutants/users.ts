/** Bugs in users and their tokens. */
import type { Mutant } from "./mutant.ts";

export const USERS: readonly Mutant[] = [
  {
    bug: "a member of the dashboard gets a lasting token",
    file: "src/features/users/token-commands.ts",
    code: 'if (ctx.actor.type === "person" && ttl > MEMBER_TOKEN_SECONDS)',
    by: "if (ttl < 0)",
    tests: ["test/users/token-endpoints.test.ts"],
  },
  {
    bug: "a viewer gets an editor's token",
    file: "src/features/users/token-commands.ts",
    code: "if (role !== undefined && lowerRole(role, user.role) !== role)",
    by: "if (ttl < 0)",
    tests: ["test/users/token-endpoints.test.ts"],
  },
  {
    bug: "the sockets of ended tokens stay open",
    file: "src/features/users/token-commands.ts",
    code: "if (owed.length > 0) await relayCommand(ctx, entry);",
    by: "",
    tests: ["test/users/token-endpoints.test.ts"],
  },
  {
    bug: "any member ends all tokens of the organization",
    file: "src/features/users/token-commands.ts",
    code: "requireOwner(ctx);",
    by: "",
    tests: ["test/users/token-endpoints.test.ts"],
  },
  {
    bug: "ending the tokens of one organization ends those of all",
    file: "src/features/users/token-store.ts",
    code: ".where(eq(accounts.id, accountId)),",
    by: "",
    tests: ["test/users/token-endpoints.test.ts"],
  },
  {
    bug: "another organization changes and deletes users",
    file: "src/features/users/store.ts",
    code: `eq(users.accountId, accountId),
    sql\`\${users.roomId} = \${roomIdOf(accountId, roomId)}\`,`,
    by: "eq(users.roomId, roomId),",
    tests: ["test/users/users.test.ts", "test/delivery/emitted-events.test.ts"],
  },
  {
    bug: "a token that a user has ended works",
    file: "src/wire/token-claims.ts",
    code: "claims.userEpoch === user.tokenEpoch &&",
    by: "",
    tests: ["test/room/engine/participants/token-ending.test.ts", "test/users/token-endpoints.test.ts"],
  },
  {
    bug: "a token that its organization has ended works",
    file: "src/wire/token-claims.ts",
    code: "claims.accountEpoch === user.accountTokenEpoch;",
    by: "claims.accountEpoch >= 0;",
    tests: ["test/room/engine/participants/token-ending.test.ts", "test/users/token-endpoints.test.ts"],
  },
  {
    bug: "a token keeps a role that its user has lost",
    file: "src/features/users/token-scheme.ts",
    code: "role: lowerRole(ceilingOf(claims), user.role) }",
    by: "role: claims.role }",
    tests: ["test/users/token-endpoints.test.ts", "test/users/roles.test.ts"],
  },
  {
    bug: "a leaked secret signs a token that lasts longer than 90 days",
    file: "src/wire/token-claims.ts",
    code: "exp - iat <= TOKEN_LIFETIME_SECONDS &&",
    by: "",
    tests: ["test/users/tokens.test.ts"],
  },
  {
    bug: "a token from the future works",
    file: "src/wire/token-claims.ts",
    code: "iat <= now / 1000 + CLOCK_TOLERANCE_SECONDS;",
    by: "iat > 0;",
    tests: ["test/users/tokens.test.ts"],
  },
];
