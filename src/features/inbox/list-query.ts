/** The filters of an inbox. */

import { exactly, flag } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { following } from "../../http/lists.ts";

export const InboxQuery = z.object({
  ...following,
  unread: flag("Only notifications that are unread, or with `false` only those that are read."),
  roomId: exactly(255, "Only notifications of this room."),
  kind: exactly(64, "Only notifications of this kind."),
});
export type InboxQuery = z.infer<typeof InboxQuery>;
