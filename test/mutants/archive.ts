/** Bugs in the archives of objects, and in what a restore brings back. */
import type { Mutant } from "./mutant.ts";

const TABLES = ["test/platform/object-archive.test.ts"];
const ROOMS = ["test/realtime/archive.test.ts"];

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
    file: "src/realtime/settle-restored.ts",
    code: "for (const { userId } of stored.graces.list()) stored.graces.delete(userId);",
    by: "",
    tests: ROOMS,
  },
];
