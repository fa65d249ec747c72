/** What remains of a user in events once the user is erased: an ID that no longer leads to anyone. Pure. */
import { fold } from "../platform/text.ts";

const NAME = "Deleted user";

/** The fields of a row in which an erased user can no longer be recognized. */
export const ERASED_FIELDS = {
  name: NAME,
  nameFolded: fold(NAME),
  profilePicture: null,
  customId: null,
} as const;
