/** Bugs in the archives of objects, and in what a restore brings back. */
import type { Mutant } from "./mutant.ts";

const TABLES = ["test/platform/object-archive.test.ts"];
const ROOMS = ["test/room/archive.test.ts"];
const DEPLOYMENT = ["test/backup/deployment.test.ts"];
const EACH = ["test/cli/each-organization.test.ts"];

export const ARCHIVE: readonly Mutant[] = [
  {
    bug: "a row that another one has replaced stays in an archive",
    file: "src/platform/archive/change-store.ts",
    code: "const before = conflicts(sql, shape);",
    by: 'const before = conflicts(sql, { ...shape, name: "none" });',
    tests: TABLES,
  },
  {
    bug: "an archive has rows that were deleted between its slices",
    file: "src/platform/archive/change-store.ts",
    code: '"AFTER DELETE": older ?? "",',
    by: "",
    tests: TABLES,
  },
  {
    bug: "a restore counts the rows of an archive once more",
    file: "src/platform/archive/restore-store.ts",
    code: 'if (part.type !== "trigger") sql.exec(part.sql);',
    by: 'sql.exec(part.sql.replace("CREATE TRIGGER ", "CREATE TRIGGER again_"));',
    tests: TABLES,
  },
  {
    bug: "an object that was restored half-way is open after a crash",
    file: "src/platform/archive/storage-archive.ts",
    code: "this.#isRestoring = readRestoring(ports.storage.sql) !== null;",
    by: "this.#isRestoring = false;",
    tests: ROOMS,
  },
  {
    bug: "a restored room keeps users online",
    file: "src/room/host/room-host.ts",
    code: "for (const { userId } of stored.graces.list()) stored.graces.delete(userId);",
    by: "",
    tests: ROOMS,
  },
  {
    bug: "the backup of a deployment gives the hashes of passwords away",
    file: "src/features/backup/deployment-operations.ts",
    code: "password === null ? null : sealer.seal(password, placeOfPassword(id));",
    by: 'password === null ? null : { keyId: "", sealed: password };',
    tests: DEPLOYMENT,
  },
  {
    bug: "a restore of a deployment replaces passwords that people have chosen since",
    file: "src/features/backup/deployment-store.ts",
    code: "WHERE credentials.password IS NULL",
    by: "WHERE true",
    tests: DEPLOYMENT,
  },
  {
    bug: "a token for a backup of the deployment is good for a restore",
    file: "src/features/backup/token-store.ts",
    code: "WHERE account_id IN (?, ?) AND purpose = ? AND",
    by: "WHERE account_id IN (?, ?) AND ? <> '' AND",
    tests: DEPLOYMENT,
  },
  {
    bug: "a backup of a deployment asks for organizations that were deleted",
    file: "src/features/backup/deployment-store.ts",
    code: "WHERE id > ? AND deleted_at IS NULL",
    by: "WHERE id > ?",
    tests: DEPLOYMENT,
  },
  {
    bug: "a backup of a deployment leaves out what is behind a page",
    file: "src/features/backup/deployment-operations.ts",
    code: "after: rows.length < ORGANIZATIONS_IN_PAGE ? null",
    by: "after: rows.length <= ORGANIZATIONS_IN_PAGE ? null",
    tests: DEPLOYMENT,
  },
  {
    bug: "an organization that cannot be backed up keeps the others from it",
    file: "src/cli/archive/each-organization.ts",
    code: "if (!(error instanceof CommandError)) throw error;",
    by: "throw error;",
    tests: EACH,
  },
  {
    bug: "a backup of a deployment goes on after the service has ended",
    file: "src/cli/archive/each-organization.ts",
    code: "while (!hasEnded) {",
    by: "while (true) {",
    tests: EACH,
  },
];
