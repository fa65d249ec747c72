/** Removes what identifies a user, and what the user wrote, from an event that is kept. Pure. */
import { ERASED_FIELDS } from "../../wire/erased-user.ts";
import type { Event } from "../../wire/events.ts";
import type { User } from "../../wire/user.ts";

/** In place of a file's name and key, which often say whose it is. */
const ERASED_FILE = "deleted";

/** The event, as JSON, without the user's name, picture, custom ID, comments and names of files. The ID stays. */
export function redactEvent(body: string, userId: string): string {
  const event = parse(body);
  const redacted: Record<string, unknown> = { ...event };
  if ("user" in event) redacted.user = redactUser(event.user, userId);
  if ("users" in event) redacted.users = event.users.map((user) => redactUser(user, userId));
  if ("comment" in event && event.comment.user_id === userId)
    redacted.comment = { ...event.comment, text: "", anchor: null };
  if ("file" in event && event.file.uploadedBy === userId) {
    redacted.file = {
      ...{ ...event.file, key: ERASED_FILE, filename: ERASED_FILE },
      url: new URL("/", event.file.url).href,
    };
    redacted.data = { ...event.data, key: ERASED_FILE };
  }
  return JSON.stringify(redacted);
}

function redactUser(user: User, userId: string): User {
  if (user.id !== userId) return user;
  const { profile_picture: _, custom_id: __, ...rest } = user;
  return { ...rest, name: ERASED_FIELDS.name };
}

/** As `presentEvent` wrote it. */
const parse = (body: string): Event => JSON.parse(body) as Event;
