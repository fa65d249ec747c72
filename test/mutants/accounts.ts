/** Bugs in quotas, invitations, challenges and tokens. */
import type { Mutant } from "./mutant.ts";

export const ACCOUNTS: readonly Mutant[] = [
  {
    bug: "an invitation for an address is accepted by anyone who has its link",
    file: "src/features/members/membership-plan.ts",
    code: "if (email !== null && email !== person.email) throw forAnother();",
    by: "",
    tests: ["test/members/members.test.ts"],
  },
  {
    bug: "signing in needs no challenge",
    file: "src/features/people/commands.ts",
    code: "await ctx.challenge().requirePassed(challenge);",
    by: "",
    tests: ["test/people/challenge.test.ts"],
  },
  {
    bug: "a challenge that was not passed counts",
    file: "src/features/people/challenge.ts",
    code: "if (success) return;",
    by: "return;",
    tests: ["test/people/challenge.test.ts"],
  },
  {
    bug: "an organization gets one more than its quota",
    file: "src/features/quotas/shared-store.ts",
    code: "AND used + ? > coalesce(max, ?)`",
    by: "AND used + ? > coalesce(max, ?) + 1`",
    tests: ["test/quotas/quotas.test.ts"],
  },
  {
    bug: "the quota of users online refuses those who come back",
    file: "src/room/host/join-authorizer.ts",
    code: "if (online.used >= online.limit && !this.#wasOnlineLately(userId))",
    by: "if (online.used >= online.limit)",
    tests: ["test/room/engine/participants/online-users-quota.test.ts"],
  },
  {
    bug: "a room does not report the bytes of its stores until a user joins or leaves",
    file: "src/room/engine/content/store-quota.ts",
    code: "if (stepOf(before) !== stepOf(after)) this.#setDue();",
    by: "",
    tests: ["test/room/engine/content/store-bytes-quota.test.ts"],
  },
  {
    bug: "a room that was refused never learns that the quota was raised",
    file: "src/room/engine/content/store-quota.ts",
    code: "this.#setDue(); // others may have deleted something, or the limit was raised",
    by: "",
    tests: ["test/room/engine/content/store-bytes-quota.test.ts"],
  },
  {
    bug: "a deleted organization that is stuck holds up the removal of all others",
    file: "src/features/organizations/deletion.ts",
    code: "(await withTimeLimit(turn, limits.turnMs)) === TIMED_OUT",
    by: "(await withTimeLimit(turn, 1e9)) === TIMED_OUT",
    tests: ["test/organizations/organizations.test.ts"],
  },
  {
    bug: "each run begins with the same deleted organizations",
    file: "src/features/organizations/store.ts",
    code: `.orderBy(sql\`\${accounts.id} < \${firstId}\`, accounts.id)`,
    by: `.orderBy(sql\`\${firstId} = ''\`, accounts.deletedAt)`,
    tests: ["test/organizations/organizations.test.ts"],
  },
];
