/** Bugs in which people got in, stayed in or were locked out against the will of an owner. */
import type { Bug } from "./bug.ts";

export const ACCESS: readonly Bug[] = [
  {
    story:
      "Credentials were looked up in the database before anything was counted, so that a flood of invalid ones slowed everyone down.",
    file: "test/http/floods.test.ts",
    titles: [
      "invented keys is refused without the database once its network has had its failures",
      "a key that no isolate has seen stops before the database",
    ],
  },
  {
    story: "Sign-up was open for good to everyone who could open the dashboard.",
    file: "test/people/sign-up-policy.test.ts",
    titles: ["a deployment is closed until it is opened, and the page and the API say so"],
  },
  {
    story: "Nothing limited what an organization made, and one could fill the database of all.",
    file: "test/quotas/quotas.test.ts",
    titles: [
      "lets exactly one of a hundred concurrent creations through when one is left",
      "refuses a file that does not fit, leaves nothing of it, and refuses the next before its first byte",
    ],
  },
  {
    story:
      "Rooms were bounded and organizations were not: a hundred thousand rooms could have a gibibyte each.",
    file: "test/room/engine/content/store-bytes-quota.test.ts",
    titles: [
      "refuses what makes stores larger when it is used up, also by other rooms, until the limit is raised",
    ],
  },
  {
    story: "A removed owner came back by an invitation that was made before the removal.",
    file: "test/members/members.test.ts",
    titles: [
      "who is removed cannot come back by an invitation made before the removal; those of others stay",
    ],
  },
  {
    story: "Anyone who got hold of an invitation's link became a member, even an owner.",
    file: "test/members/members.test.ts",
    titles: ["for an address is accepted by the person who has it, in any case, and by no one else"],
  },
  {
    story:
      "The last owner would have left, or become a member, and the members who remained could have managed nothing.",
    file: "test/members/members.test.ts",
    titles: ["can neither leave, be removed nor become a member while plain members remain"],
  },
  {
    story:
      "A stolen session would have kept its access to the API for a while after the person had changed the password.",
    file: "test/people/sessions.test.ts",
    titles: ["ends all other sign-in sessions and begins a new one in this browser"],
  },
  {
    story: "Any stranger locked a person out by guessing the person's password.",
    file: "test/people/guessing.test.ts",
    titles: ["holds up neither the person's browser nor the person on another network"],
  },
  {
    story:
      "Guesses of a password were counted per location, and an IPv6 network had an allowance for each of its addresses.",
    file: "test/people/guessing.test.ts",
    titles: [
      "is refused after five guesses from a network, even when they are made at once",
      "counts all addresses of an IPv6 network, and both spellings of an IPv4 one, together",
    ],
  },
  {
    story: "Many wrong passwords at once occupied the thread that answers everyone.",
    file: "test/people/wrong-passwords.test.ts",
    titles: ["of one client start at once five times, then wait for their turns or are refused"],
  },
  {
    story: "A leaked token of a user could be ended only by deleting the user.",
    file: "test/users/token-endpoints.test.ts",
    titles: ["refuses all of them and closes the sockets that joined with them, and no others"],
  },
  {
    story: "Members of the dashboard were shown the lasting tokens of users.",
    file: "test/users/token-endpoints.test.ts",
    titles: ["sees tokens that last an hour, never the lasting one"],
  },
  {
    story: "An API key went on working after it had been revoked, in processes that had read it before.",
    file: "test/accounts/api-keys.test.ts",
    titles: ["are cached for 10 seconds at most by an isolate that did not revoke them"],
  },
  {
    story:
      "A reader of a copy of the database could sign events, because signing secrets stood there in the clear.",
    file: "test/delivery/signing-secrets.test.ts",
    titles: ["is stored encrypted, of webhooks and of HTTP triggers, the current and the rotated one"],
  },
  {
    story: "A deleted user's comments, files and name in events stayed behind.",
    file: "test/privacy/personal-data.test.ts",
    titles: ["erasing a user leaves nothing that identifies them, and all that others made"],
  },
  {
    story:
      "A stranger would have become an owner by an invitation of a leaked API key that was revoked since.",
    file: "test/accounts/api-keys.test.ts",
    titles: [
      "end what they made: keys, invitations and links for a new password, but not the key that revokes them",
      "make nothing that is valid where an isolate still takes them for valid",
    ],
  },
  {
    story: "An agent would have read the tokens of users, the secrets of webhooks and the keys of files.",
    file: "test/mcp/mcp.test.ts",
    titles: [
      "gets no credential from any operation: its results have none at any depth, as the API describes them",
      "creates users, webhooks and files' events without seeing their credentials",
    ],
  },
  {
    story: "An API key that was made just after its organization's deletion stayed valid.",
    file: "test/accounts/api-keys.test.ts",
    titles: ["end with their organization, and none is made by a request that was let in before"],
  },
  {
    story:
      "An invitation that was accepted during a restore came back with the next slice, and let a second person in.",
    file: "test/backup/backup.test.ts",
    titles: ["are closed until the restore is complete, and are used once"],
  },
  {
    story:
      "Who signed up with a member's address before a restore became a member, and restored invitations outlived their maker.",
    file: "test/backup/backup.test.ts",
    titles: ["keep their maker, with whose ownership they end, and go with one who is no person here"],
  },
];
