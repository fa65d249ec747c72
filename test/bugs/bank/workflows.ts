/** Bugs in which programs of customers ran twice, reached too far or held up others. */
import type { Bug } from "./bug.ts";

export const WORKFLOWS: readonly Bug[] = [
  {
    story: "A run that a crash had cut off right after its first effect would have been made a second time.",
    file: "test/workflows/workflow-queue.test.ts",
    titles: [
      "records a run that was cut off, does not repeat it, and continues with the pending events",
      "never repeats a run that started without them, whatever it has when the run is cut off",
    ],
  },
  {
    story:
      "A run that was over would have gone on using what it had been given, had only the program's side refused it.",
    file: "test/workflows/revocation.test.ts",
    titles: ["cannot use any of its bindings, which the service itself refuses"],
  },
  {
    story: "A run would have read and deleted files of another room by their keys.",
    file: "test/workflows/revocation.test.ts",
    titles: ["neither reads nor deletes a file of another one, even with its key"],
  },
  {
    story: "Programs without an end froze the whole service, other organizations included.",
    file: "test/cli/program-pool.test.ts",
    titles: [
      "kills the process of a program that uses too much processor time, and says so",
      "lets an organization have so many at work, and others start at once",
    ],
  },
  {
    story: "A busy program's process grew with each run, until a run was killed that had done nothing wrong.",
    file: "test/cli/program-pool.test.ts",
    titles: ["ends a process after a run that leaves the next one too little memory"],
  },
  {
    story: "Long lists of exported names kept the compiler for many seconds.",
    file: "test/sandbox/compile.test.ts",
    titles: ["has too many names in nested blocks: %s", "exports too many names behind long code: %s"],
  },
  {
    story: "A hundred secrets that no key opened kept all others sealed with a key that was to be retired.",
    file: "test/workflows/secrets.test.ts",
    titles: ["that cannot be opened is reported once, and holds up no other, however many there are"],
  },
  {
    story: "Agents could not start a workflow by a request: the operation was missing among their tools.",
    file: "test/mcp/mcp.test.ts",
    titles: ["starts a workflow with a payload of any form"],
  },
  {
    story: "A program could take any amount of memory outside of its heap before the pool looked again.",
    file: "test/cli/program-process.test.ts",
    titles: ["ends one that takes more memory outside of its heap, however fast it does"],
  },
];
