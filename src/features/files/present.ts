/** Files of all rooms as they are presented. */

import { presentFile } from "@atrium/contract/resources/file.ts";
import type { FoundFile } from "@atrium/contract/rest/files.ts";
import type { FoundRow } from "./storage/list-store.ts";

export const presentFound = (
  { roomId, roomName, uploaderName, ...row }: FoundRow,
  origin: string,
): FoundFile => ({
  ...presentFile(row, origin),
  roomId,
  roomName,
  uploaderName,
});
