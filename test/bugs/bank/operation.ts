/** Bugs that met the operator: in backups, moves, logs and the service on one machine. */
import type { Bug } from "./bug.ts";

export const OPERATION: readonly Bug[] = [
  {
    story:
      "A restore could not be cancelled without its folder, and left half-restored objects and uploads behind.",
    file: "test/backup/cancel.test.ts",
    titles: ["in %s leaves nothing behind, wherever it was, and the next one brings everything back"],
  },
  {
    story: "A backup's folder that had lost a part, or gained one, was taken as whole.",
    file: "test/cli/archive-folder.test.ts",
    titles: ["is refused when it has less than was noted, or more in the end"],
  },
  {
    story: "A copy of the state folder of a running service was torn.",
    file: "test/cli/backup.test.ts",
    titles: [
      "copies what hands something over before what it hands it to, and nothing that only a running service needs",
    ],
  },
  {
    story: "Rooms that only waited until their organization was moved were logged and counted as failures.",
    file: "test/room/engine/participants/stats-and-recovery.test.ts",
    titles: ["wait, and no failure is logged, while the organization is moved or restored (R27)"],
  },
  {
    story: "A long list of rooms lost its index when its organization returned to the directory.",
    file: "test/organizations/move.test.ts",
    titles: ["there and back has a long list of rooms indexed where it is then, and not where it was"],
  },
  {
    story: "A task that hung kept the scheduled tasks of all organizations from their end.",
    file: "test/platform/time-limit.test.ts",
    titles: ["tasks that fail or hang keep no other from its end, and are all named in the error"],
  },
  {
    story:
      "A database that a rollback had left at a later version was set back, and would have been migrated twice.",
    file: "test/platform/object-tables.test.ts",
    titles: ["that a later version wrote keeps its number, and is gone on with"],
  },
  {
    story:
      "During a deploy, requests failed because a room's object still lacked a method that the newer Worker called.",
    file: "test/platform/rpc-versions.test.ts",
    titles: ["that lacks a method of a newer Worker is asked again"],
  },
  {
    story:
      "An event that a request had left behind was relayed while its organization was removed, and brought back a log that was kept for ever.",
    file: "test/organizations/organizations.test.ts",
    titles: [
      "goes after what its requests have left behind: relayed later, that would write to the log again",
    ],
  },
  {
    story:
      "A rollback to a configuration without a second database read its organizations as absent, and removed their queues and schedules.",
    file: "test/placement/placement.test.ts",
    titles: [
      "keeps what waits for its webhooks and workflows, and their schedules",
      "can neither be used nor deleted until it is bound again, and loses nothing meanwhile",
    ],
  },
  {
    story:
      "A restore of an organization that had once been moved never ended, because the fence of the move had outlived the deletion.",
    file: "test/organizations/move.test.ts",
    titles: ["from %s to %s leaves nothing in the way of a restore"],
  },
  {
    story: "One organization on the move stopped the encryption of signing secrets for its whole database.",
    file: "test/delivery/signing-secrets.test.ts",
    titles: ["those of an organization that is fenced wait, and those of others are encrypted anew"],
  },
];
