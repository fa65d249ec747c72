/** Bugs in what is exported of people, and in what erasing them leaves. */
import type { Mutant } from "./mutant.ts";

const USERS = ["test/privacy/personal-data.test.ts"];
const PERSONS = ["test/privacy/person.test.ts"];

export const PRIVACY: readonly Mutant[] = [
  {
    bug: "an export has the comments of everyone",
    file: "src/room/engine/content/personal-data.ts",
    code: "comment.user_id === userId ?",
    by: "comment.user_id !== '' ?",
    tests: USERS,
  },
  {
    bug: "an export has the events of the whole room",
    file: "src/features/events/queries.ts",
    code: "slice.events.filter(({ body }) => body.includes(userId))",
    by: "slice.events.filter(({ body }) => body !== userId)",
    tests: USERS,
  },
  {
    bug: "an export ends before the files and the events",
    file: "src/features/privacy/cursor.ts",
    code: "SECTIONS[SECTIONS.indexOf(section) + 1]",
    by: 'section === "documents" ? undefined : SECTIONS[SECTIONS.indexOf(section) + 1]',
    tests: USERS,
  },
  {
    bug: "an erased user's comments stay",
    file: "src/room/engine/room-updates.ts",
    code: "this.#content.comments.eraseUser(userId);",
    by: "",
    tests: USERS,
  },
  {
    bug: "clients catch up with what an erased user wrote",
    file: "src/room/engine/room-updates.ts",
    code: "if (isErased) this.#content.changes.forgetUser(userId);",
    by: "",
    tests: ["test/room/engine/content/comments.test.ts"],
  },
  {
    bug: "the event log keeps the name of an erased user",
    file: "src/room/host/room-object.ts",
    code: 'if (command.type === "user.erased") await this.runtime().eraseFromLog(command.userId);',
    by: "",
    tests: USERS,
  },
  {
    bug: "the last event about an erased user names them",
    file: "src/features/users/deletion-commands.ts",
    code: "userId, null, ERASED_FIELDS)",
    by: "userId)",
    tests: USERS,
  },
  {
    bug: "erasing a user keeps their files",
    file: "src/features/files/storage/deletion-store.ts",
    code: "AND state = 'stored' AND uploaded_by = ? LIMIT ?",
    by: "AND state = 'stored' AND uploaded_by = ? || '' AND FALSE LIMIT ?",
    tests: USERS,
  },
  {
    bug: "erasing a user deletes the files of the whole room",
    file: "src/features/files/storage/deletion-store.ts",
    code: "AND state = 'stored' AND uploaded_by = ? LIMIT ?",
    by: "AND state = 'stored' AND uploaded_by <> ? || '.' LIMIT ?",
    tests: USERS,
  },
  {
    bug: "an earlier deletion leaves for good what the user wrote",
    file: "src/features/users/deletion-commands.ts",
    code: "insertOutboxEntry(entry, [selectRoom(ctx, { id: roomId })], ctx.now()),",
    by: "insertOutboxEntry(entry, [selectRoom(ctx, { id: roomId }), selectUser(ctx, roomId, { id: userId })], ctx.now()),",
    tests: USERS,
  },
  {
    bug: "the only owner of an organization deletes themselves",
    file: "src/features/privacy/person/shared-store.ts",
    code: "DELETE FROM people WHERE id = ? AND NOT EXISTS",
    by: "DELETE FROM people WHERE id = ? OR id = '' AND NOT EXISTS",
    tests: PERSONS,
  },
  {
    bug: "an account is deleted without its password",
    file: "src/features/people/password-commands.ts",
    code: "if (!(await verifyPassword(password, stored))) throw refusal;",
    by: "",
    tests: PERSONS,
  },
  {
    bug: "the invitations of a deleted owner stay open to anyone",
    file: "src/features/privacy/person/shared-store.ts",
    code: "DELETE FROM invitations WHERE invited_by = ? AND",
    by: "DELETE FROM invitations WHERE invited_by = ? || '.' AND",
    tests: PERSONS,
  },
];
