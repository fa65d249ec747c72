/** The limits that an organization gives one of its rooms: their shapes on the wire, and the words of a refusal. */
import * as z from "zod";
import { AppError } from "../errors.ts";
import { parseStored } from "../stored.ts";

const REMEDIES = {
  users: "delete users",
  storeBytes: "delete entries of stores",
  documentBytes: "delete documents",
  streamBytes: "delete streams",
  commentBytes: "delete comments",
  files: "delete files",
  fileBytes: "delete files",
} as const;
export type RoomLimitName = keyof typeof REMEDIES;

const COUNTED: Readonly<Record<RoomLimitName, string>> = {
  users: "Users of the room, whether online or not.",
  storeBytes: "Bytes of the keys and values of all stores.",
  documentBytes: "Bytes of all documents with their history.",
  streamBytes: "Bytes of all streams.",
  commentBytes: "Bytes of all comments.",
  files: "Files of the room.",
  fileBytes: "Bytes of all files.",
};

const input = (limit: RoomLimitName) =>
  z
    .int()
    .min(1)
    .nullable()
    .optional()
    .meta({ description: `${COUNTED[limit]} \`null\` for no limit.` });
const output = (limit: RoomLimitName) =>
  z
    .int()
    .nullable()
    .meta({ description: `${COUNTED[limit]} \`null\` without a limit.`, minimum: 1 });

/** Limits to set. An update leaves the limits as they are that it does not name. */
export const RoomLimitsInput = z
  .strictObject({
    users: input("users"),
    storeBytes: input("storeBytes"),
    documentBytes: input("documentBytes"),
    streamBytes: input("streamBytes"),
    commentBytes: input("commentBytes"),
    files: input("files"),
    fileBytes: input("fileBytes"),
  })
  .meta({ id: "RoomLimitsInput", example: { users: 50, fileBytes: 10_485_760 } });
export type RoomLimitsInput = z.infer<typeof RoomLimitsInput>;

export const RoomLimits = z
  .object({
    users: output("users"),
    store_bytes: output("storeBytes"),
    document_bytes: output("documentBytes"),
    stream_bytes: output("streamBytes"),
    comment_bytes: output("commentBytes"),
    files: output("files"),
    file_bytes: output("fileBytes"),
  })
  .meta({
    id: "RoomLimits",
    example: {
      ...{ users: 50, store_bytes: null, document_bytes: null, stream_bytes: null, comment_bytes: null },
      ...{ files: null, file_bytes: 10_485_760 },
    },
  });
export type RoomLimits = z.infer<typeof RoomLimits>;

/** The limits that a room has. */
export type OwnLimits = Readonly<Partial<Record<RoomLimitName, number>>>;

/** The limits of a room's row: JSON, or null for none. */
export const parseLimits = (json: string | null): OwnLimits =>
  json === null ? {} : parseStored<OwnLimits>(json, {});

/** As the row of a new room has them. */
export const storedLimits = (limits: RoomLimitsInput = {}): string | null => {
  const set = Object.entries(limits).filter(([, limit]) => limit != null);
  return set.length === 0 ? null : JSON.stringify(Object.fromEntries(set));
};

export const presentLimits = (json: string | null): RoomLimits => {
  const { users, storeBytes, documentBytes, streamBytes, commentBytes, files, fileBytes } = parseLimits(json);
  return {
    users: users ?? null,
    store_bytes: storeBytes ?? null,
    document_bytes: documentBytes ?? null,
    stream_bytes: streamBytes ?? null,
    comment_bytes: commentBytes ?? null,
    files: files ?? null,
    file_bytes: fileBytes ?? null,
  };
};

/** The refusal of growth above a limit of the room: the limit by its name in requests, its use, then the remedy. */
export const roomLimitExceeded = (limit: RoomLimitName, used: number, max: number): AppError =>
  new AppError(
    "Rooms",
    "FORBIDDEN",
    `The room's limit ${limit} has no space for this: ${used} of ${max} are used; ${REMEDIES[limit]}, or have the limit raised`,
  );
