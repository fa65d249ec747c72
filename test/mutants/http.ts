/** Bugs in requests: authentication, idempotency, lists and agents. */
import type { Mutant } from "./mutant.ts";

export const HTTP: readonly Mutant[] = [
  {
    bug: "a user's token calls the organization's endpoints",
    file: "src/http/authenticate.ts",
    code: 'if (access !== "member" && actor.type === "user") {',
    by: 'if (access === "public") {',
    tests: ["test/users/token-endpoints.test.ts"],
  },
  {
    bug: "wrong credentials are not counted",
    file: "src/http/authenticate.ts",
    code: "claim.isOurs || limitAuthFailures(env, request),",
    by: "",
    tests: ["test/http/floods.test.ts", "test/accounts/api-keys.test.ts"],
  },
  {
    bug: "a deleted key works from memory",
    file: "src/features/accounts/verify-key.ts",
    code: `cache.delete(hash);
`,
    by: "",
    tests: ["test/accounts/api-keys.test.ts"],
  },
  {
    bug: "the Host header decides what links begin with",
    file: "src/http/security/origin.ts",
    code: "publicOrigin(settings) ?? new URL(request.url).origin",
    by: "new URL(request.url).origin",
    tests: ["test/http/public-origin.test.ts"],
  },
  {
    bug: "a local service believes the client's own address",
    file: "src/http/host-check.ts",
    code: "headers.set(CLIENT_ADDRESS_HEADER, address);",
    by: "",
    tests: ["test/http/host-check.test.ts"],
  },
  {
    bug: "a user reads other rooms of its organization",
    file: "src/platform/context/context.ts",
    code: 'if ("roomId" in actor && actor.roomId !== roomId) {',
    by: 'if ("roomId" in actor && actor.roomId === "") {',
    tests: ["test/users/users.test.ts", "test/files/user-token-access.test.ts"],
  },
  {
    bug: "the place of a page behind a cursor counts from the beginning",
    file: "src/http/lists/presented-page.ts",
    code: "offset: (after?.offset ?? 0) + offset,",
    by: "offset,",
    tests: ["test/http/lists.test.ts"],
  },
  {
    bug: "another request under a used key gets its response",
    file: "src/http/idempotency/receipt.ts",
    code: "if (row.fingerprint !== (await this.#fingerprint()))",
    by: 'if (row.fingerprint === "")',
    tests: ["test/http/idempotency.test.ts"],
  },
  {
    bug: "users replay each other's requests",
    file: "src/http/idempotency/receipt.ts",
    code: `if (actor.type === "user") return \`\${actor.accountId}:\${actor.userId}\`;`,
    by: 'if (actor.type === "user") return actor.accountId;',
    tests: ["test/files/user-token-access.test.ts"],
  },
  {
    bug: "a response is replayed for ever",
    file: "src/http/idempotency/receipt.ts",
    code: "if (row === undefined || row.createdAt <= this.#expiry) return null;",
    by: "if (row === undefined) return null;",
    tests: ["test/http/idempotency.test.ts"],
  },
  {
    bug: "of two requests at once under one key the second fails",
    file: "src/http/idempotency/receipt.ts",
    code: "const first = lostRace ? await this.#find(ctx) : null;",
    by: "const first = lostRace ? null : null;",
    tests: ["test/http/idempotency.test.ts"],
  },
  {
    bug: "a retry shows a one-time secret again",
    file: "src/http/idempotency/replay.ts",
    code: "keep: () => null, restore",
    by: "keep: (data) => data, restore",
    tests: ["test/http/idempotency.test.ts"],
  },
  {
    bug: "an agent reads the tokens of users",
    file: "src/features/mcp/call-operation.ts",
    code: "return withoutCredentials(data);",
    by: "return data;",
    tests: ["test/mcp/mcp.test.ts"],
  },
  {
    bug: "an agent's misspelt argument is ignored",
    file: "src/features/mcp/call-operation.ts",
    code: "if (unknown !== undefined)",
    by: 'if (unknown === "")',
    tests: ["test/mcp/mcp.test.ts"],
  },
];
