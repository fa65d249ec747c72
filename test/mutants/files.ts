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
  {
    bug: "a user uploads as someone else",
    file: "src/files/commands.ts",
    code: 'if (ctx.actor.userId !== userId) throw forbidden("userId must be the token\'s user");',
    by: "",
    tests: ["test/files/user-token-access.test.ts"],
  },
  {
    bug: "a user uploads into another room",
    file: "src/files/commands.ts",
    code: `): void {
  requireRoomAccess(ctx, roomId);`,
    by: "): void {",
    tests: ["test/files/user-token-access.test.ts"],
  },
  {
    bug: "a user deletes what others have uploaded",
    file: "src/files/commands.ts",
    code: 'const uploader = ctx.actor.type === "user" ? ctx.actor.userId : null;',
    by: "const uploader = null;",
    tests: ["test/files/user-token-access.test.ts"],
  },
  {
    bug: "a page is shown in the service's origin",
    file: "src/files/serving.ts",
    code: 'type: isShownInline(mimeType) ? "inline" : "attachment"',
    by: 'type: "inline"',
    tests: ["test/files/serving.test.ts"],
  },
  {
    bug: "a part of a changed file is sent for If-Range",
    file: "src/files/serving.ts",
    code: "if (wanted === null || (unlessChanged !== null && unlessChanged !== facts.etag))",
    by: "if (wanted === null)",
    tests: ["test/files/serving.test.ts"],
  },
];
