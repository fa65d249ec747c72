/** Bugs in files. */
import type { Mutant } from "./mutant.ts";

export const FILES: readonly Mutant[] = [
  {
    bug: "a user deletes files of another room",
    file: "src/files/commands.ts",
    code: "if (parsed !== null) requireRoomAccess(ctx, parsed.roomId);",
    by: "",
    tests: ["test/files/user-token-access.test.ts"],
  },
  {
    bug: "a part of a page runs in the service's origin",
    file: "src/files/serving.ts",
    code: "...headersOf(blob, filename),",
    by: '"Content-Type": servedType(blob.mimeType),',
    tests: ["test/files/serving.test.ts"],
  },
];
