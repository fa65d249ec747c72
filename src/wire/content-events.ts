/** The events of a room's content: files, stores, documents and comments. The SDK infers its types from it. */
import * as z from "zod";
import { Comment } from "./comment.ts";
import { cause, common, roomId } from "./event-fields.ts";
import { StorageFile } from "./file.ts";

/**
 * A file was stored, or deleted by itself: `room.deleted` stands for the files of a deleted room. `userId` is who did
 * it; there is none when your back end deleted the file, or a workflow did it.
 */
export const FileEvent = z
  .object({
    ...common,
    ...cause,
    event: z.enum(["file.uploaded", "file.deleted"]),
    data: z.object({ roomId, key: z.string(), userId: z.string().optional() }),
    file: StorageFile.meta({ description: "The file right after the event; as it was, if it was deleted." }),
  })
  .meta({ id: "FileEvent" });
export type FileEvent = z.infer<typeof FileEvent>;

/** A store has changed: one event for all its changes within five seconds. It has no values: read the store. */
export const StoreEvent = z
  .object({
    ...common,
    ...cause,
    event: z.literal("store.changed"),
    data: z.object({
      roomId,
      store: z.string().meta({ description: "The store's name." }),
      fromSeq: z.int().meta({ description: "The `seq` of the first change that the event reports." }),
      toSeq: z.int().meta({
        description:
          "The `seq` of the room's last change so far: entries whose `version` is in this range were written, those that are missing deleted.",
      }),
    }),
  })
  .meta({ id: "StoreEvent" });
export type StoreEvent = z.infer<typeof StoreEvent>;

const document = z.string().meta({ description: "The document's name." });

/** A document was created, by its first update, or deleted with its history. */
export const DocumentEvent = z
  .object({
    ...common,
    event: z.enum(["document.created", "document.deleted"]),
    data: z.object({ roomId, document }),
  })
  .meta({ id: "DocumentEvent" });
export type DocumentEvent = z.infer<typeof DocumentEvent>;

/** A document has changed: one event for all its updates within ten seconds. It has no content: read the document. */
export const DocumentUpdatedEvent = z
  .object({
    ...common,
    event: z.literal("document.updated"),
    data: z.object({
      roomId,
      document,
      fromSeq: z.int().meta({ description: "The number of the first update that the event reports." }),
      toSeq: z.int().meta({ description: "The number of the last one. The trail says who wrote them." }),
    }),
  })
  .meta({ id: "DocumentUpdatedEvent" });
export type DocumentUpdatedEvent = z.infer<typeof DocumentUpdatedEvent>;

/** The room made a version of a document, or someone named the document as it is. */
export const VersionEvent = z
  .object({
    ...common,
    event: z.literal("version.created"),
    data: z.object({
      roomId,
      document,
      version: z.int().meta({ description: "The number of the latest update that it has." }),
      name: z.string().nullable().meta({ description: "Null for one that the room made by itself." }),
    }),
  })
  .meta({ id: "VersionEvent" });
export type VersionEvent = z.infer<typeof VersionEvent>;

/**
 * A comment was written, edited or reopened, resolved, or deleted. Reactions cause no event. `userId` is who did it;
 * there is none when your back end did, except for the author of a comment that it created.
 */
export const CommentEvent = z
  .object({
    ...common,
    ...cause,
    event: z.enum(["comment.created", "comment.updated", "comment.resolved", "comment.deleted"]),
    data: z.object({ roomId, commentId: z.uuid(), threadId: z.uuid(), userId: z.string().optional() }),
    comment: Comment.meta({
      description: "The comment right after the event; as it was, if it was deleted.",
    }),
  })
  .meta({ id: "CommentEvent" });
export type CommentEvent = z.infer<typeof CommentEvent>;
