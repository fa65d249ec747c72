/** Bugs in files. */
import type { Mutant } from "./mutant.ts";

export const FILES: readonly Mutant[] = [
  {
    bug: "a user deletes files of another room",
    file: "src/features/files/commands.ts",
    code: "if (parsed !== null) requireRoomAccess(ctx, parsed.roomId);",
    by: "",
    tests: ["test/files/user-token-access.test.ts"],
  },
  {
    bug: "a part of a page runs in the service's origin",
    file: "src/features/files/serving.ts",
    code: "...headersOf(blob, filename),",
    by: '"Content-Type": servedType(blob.mimeType),',
    tests: ["test/files/serving.test.ts"],
  },
  {
    bug: "a user uploads into another room",
    file: "src/features/files/upload-access.ts",
    code: `): void {
  requireRoomAccess(ctx, roomId);`,
    by: "): void {",
    tests: ["test/files/user-token-access.test.ts"],
  },
  {
    bug: "a user deletes what others have uploaded",
    file: "src/features/files/commands.ts",
    code: 'const uploader = ctx.actor.type === "user" ? ctx.actor.userId : null;',
    by: "const uploader = null;",
    tests: ["test/files/user-token-access.test.ts"],
  },
  {
    bug: "a page is shown in the service's origin",
    file: "src/features/files/serving.ts",
    code: 'type: isShownInline(mimeType) ? "inline" : "attachment"',
    by: 'type: "inline"',
    tests: ["test/files/serving.test.ts"],
  },
  {
    bug: "a viewer uploads files",
    file: "src/features/files/upload-access.ts",
    code: `throw forbidden("userId must be the token's user");
  requireEditor(ctx);`,
    by: `throw forbidden("userId must be the token's user");`,
    tests: ["test/files/user-token-access.test.ts"],
  },
  {
    bug: "an upload that was marked for deletion is finished",
    file: "src/features/files/storage/store.ts",
    code: "WHERE key = ? AND account_id = ? AND state = 'uploading'",
    by: "WHERE key = ? AND account_id = ?",
    tests: ["test/files/garbage-collection.test.ts"],
  },
  {
    bug: "the row of a file goes although its bytes could not be deleted",
    file: "src/features/files/storage/garbage-collection.ts",
    code: `await blobs.delete(deleting);
  await db.run([deleteMarked(deleting.map(({ key }) => key))]);`,
    by: `await db.run([deleteMarked(deleting.map(({ key }) => key))]);
  await blobs.delete(deleting);`,
    tests: ["test/files/garbage-collection.test.ts"],
  },
];
