/** Bugs in members and invitations. */
import type { Mutant } from "./mutant.ts";

export const MEMBERS: readonly Mutant[] = [
  {
    bug: "the last owner can leave or be removed",
    file: "src/features/members/store.ts",
    code: `AND others.role = 'owner' AND others.person_id <> \${personId}`,
    by: "AND others.role = 'owner'",
    tests: ["test/members/members.test.ts"],
  },
  {
    bug: "the last owner can leave while plain members remain",
    file: "src/features/members/store.ts",
    code: `WHERE others.account_id = \${tenant.accountId} AND others.role = 'owner'`,
    by: `WHERE others.account_id = \${tenant.accountId}`,
    tests: ["test/members/members.test.ts"],
  },
  {
    bug: "an expired invitation is shown and accepted",
    file: "src/features/members/invitation-store.ts",
    code: "and(gt(invitations.expiresAt, now), INVITED_BY_OWNER)",
    by: "and(gt(invitations.expiresAt, 0), sql.raw(INVITER_IS_OWNER))",
    tests: ["test/members/members.test.ts"],
  },
  {
    bug: "an invitation is accepted twice",
    file: "src/features/members/invitation-store.ts",
    code: "statement(build.delete(invitations).where(eq(invitations.tokenHash, tokenHash))),",
    by: 'statement(build.delete(invitations).where(eq(invitations.tokenHash, ""))),',
    tests: ["test/members/members.test.ts"],
  },
  {
    bug: "an invitation of a removed owner is shown and accepted",
    file: "src/features/members/invitation-store.ts",
    code: `AND inviters.role = 'owner'
)) AND`,
    by: `AND inviters.role = 'owner'
) OR TRUE) AND`,
    tests: ["test/members/members.test.ts"],
  },
  {
    bug: "any member invites others",
    file: "src/features/members/invitation-commands.ts",
    code: `): Promise<{ invitation: Invitation; url: string; mailed: boolean }> {
  requireOwner(ctx);`,
    by: "): Promise<{ invitation: Invitation; url: string; mailed: boolean }> {",
    tests: ["test/members/members.test.ts"],
  },
  {
    bug: "another organization withdraws an invitation",
    file: "src/features/members/invitation-store.ts",
    code: ".where(and(openOfAccount(tenant.accountId, now), eq(invitations.id, id)))",
    by: ".where(eq(invitations.id, id))",
    tests: ["test/members/members.test.ts"],
  },
  {
    bug: "a removed member keeps access from memory",
    file: "src/features/members/commands.ts",
    code: `evictPerson(personId);
  return {};`,
    by: "return {};",
    tests: ["test/members/members.test.ts"],
  },
  {
    bug: "the invitations of a removed owner stay",
    file: "src/features/members/commands.ts",
    code: `deleteMembership(ctx, personId),
    deleteInvitationsOf(ctx, personId),`,
    by: "deleteMembership(ctx, personId),",
    tests: ["test/members/members.test.ts"],
  },
];
