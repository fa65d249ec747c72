/** The endpoints of files. */
import * as z from "zod";
import { endpoint, formEndpoint, rawEndpoint } from "../http/endpoint.ts";
import { pageShape, paging, toPage } from "../http/paginate.ts";
import { deleteFile, uploadFile } from "./commands.ts";
import { parseTypeFilter } from "./media-type.ts";
import { listFiles } from "./queries.ts";
import { FileDeletion, MAX_FILE_BYTES, StorageFile, UploadFields, UploadResult } from "./schema.ts";
import { serveFile } from "./serving.ts";
import { FILE_TOO_LARGE } from "./upload.ts";

/** What a form may have beside its file: fields, headers, and a preamble that nobody reads. */
const MAX_OVERHEAD_BYTES = 1024 * 1024;

/** The statement's one parameter holds them all, so this bounds its work, not its shape. */
const MAX_TYPE_FILTERS = 100;

const TypeFilter = z
  .string()
  .max(255)
  .transform((value, context) => {
    const filter = parseTypeFilter(value);
    if (filter === null) context.addIssue("must be a type as image/png, or a category as image/ or image/*");
    return filter ?? z.NEVER;
  })
  .meta({ override: { type: "string", maxLength: 255, example: "image/" } });

const FileQuery = z.object({
  roomId: z.string().min(1).meta({ description: "The files' room." }),
  ...paging,
  mimeType: z.array(TypeFilter).max(MAX_TYPE_FILTERS).default([]).meta({
    description:
      "Keeps files of this type, compared without parameters and in any case; `image/` and `image/*` mean all images. Given several times, any of them will do.",
  }),
  userId: z.string().optional().meta({ description: "Keeps what this user has uploaded." }),
});

const UploadForm = UploadFields.extend({
  file: z.string().meta({
    description: "The file, with its name and type as its part of the form has them.",
    override: { type: "string", contentMediaType: "application/octet-stream" },
  }),
}).meta({ id: "UploadForm" });

const SERVED = `HEAD answers the same without the bytes. Whoever knows the key may read the file, from any origin: \`<img src>\` works. What a key names never
changes, so it may be cached for good; a deleted file is gone from here at once, though not from the caches that have it.

A single \`Range\` is served; several in one, or a malformed one, are passed over. \`If-Range\` takes an \`ETag\`.

Images, audio and video of the common formats are shown where they are opened; all else is an attachment, under its
own name. Every answer carries \`nosniff\` and \`Content-Security-Policy: sandbox; default-src 'none'\`. Scripts and style
sheets are served as \`application/octet-stream\`, so that no page can run them.`;

export const fileEndpoints = [
  endpoint({
    method: "GET",
    path: "/files",
    operation: "listFiles",
    module: "Files",
    access: "member",
    summary: "List a room's files",
    details: "Newest first. A user's JWT opens its own room.",
    errors: ["NOT_FOUND"],
    query: FileQuery,
    status: 200,
    done: "Files retrieved",
    data: z.object({ files: z.array(StorageFile), ...pageShape }),
    handle: (ctx, { query }) =>
      listFiles(
        ctx,
        query.roomId,
        { mediaTypes: query.mimeType, uploadedBy: query.userId ?? null },
        toPage(query),
      ),
  }),
  formEndpoint({
    method: "POST",
    path: "/upload",
    operation: "uploadFile",
    module: "Files",
    access: "member",
    summary: "Upload a file",
    details: `A file may have ${MAX_FILE_BYTES / 1024 ** 2} MiB and be of any type. Let \`roomId\` and \`userId\` stand before \`file\` in the form: after it, they do for files up to 8 MiB only.

The key and the file's record have its name cleaned: without folders, controls and marks that turn the direction of text, in
composed form (NFC), and shortened before its extension to 255 bytes of UTF-8. \`filename*\` wins over \`filename\`. A type
that is missing or malformed counts as \`application/octet-stream\`.

Other fields of the form, at most 8 KiB each, are passed over; a form has at most 32 parts, and takes at most 30 minutes.
The file can be seen when it is complete; if anything goes wrong before, nothing of it is left.

A user's JWT uploads as that user, unless it is a viewer's. A room that is closed takes none; one that is closed or
deleted while a file arrives: deleting wins, closing does not stop it. With an \`Idempotency-Key\`, fields, name, type
and bytes must be the same in a retry, the form's boundary need not.`,
    errors: ["NOT_FOUND"],
    form: {
      fields: UploadForm,
      maxBytes: MAX_FILE_BYTES + MAX_OVERHEAD_BYTES,
      tooLarge: FILE_TOO_LARGE,
    },
    status: 201,
    done: "File uploaded",
    data: z.object({ file: UploadResult }),
    handle: (ctx, { form }) => uploadFile(ctx, form),
  }),
  endpoint({
    method: "DELETE",
    path: "/upload",
    operation: "deleteFile",
    module: "Files",
    access: "member",
    summary: "Delete a file",
    details:
      "It cannot be read any more when this is answered. A user's JWT deletes what that user has uploaded, unless it is a viewer's.",
    errors: ["NOT_FOUND"],
    body: FileDeletion,
    status: 200,
    done: "File deleted",
    data: z.object({ key: z.string().meta({ description: "The deleted key." }) }),
    handle: (ctx, { body }) => deleteFile(ctx, body.key),
  }),
  rawEndpoint({
    method: "GET",
    path: "/storage/*fileKey",
    operation: "readFile",
    module: "Files",
    access: "public",
    summary: "Read a file",
    details: SERVED,
    errors: ["NOT_FOUND"],
    answers: {
      200: "The file.",
      206: "The part of it that `Range` asks for.",
      304: "It is what `If-None-Match` names.",
      416: "It has nothing of what `Range` asks for; `Content-Range` tells its size.",
    },
    respond: (ctx, { params }, request) => serveFile(ctx, params.fileKey, request),
  }),
];
