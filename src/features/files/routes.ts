/** The endpoints for files. */

import { MAX_FILE_BYTES, StorageFile, UploadResult } from "@atrium/contract/resources/file.ts";
import { FileDeletion, FoundFile, UploadFields } from "@atrium/contract/rest/files.ts";
import { cursorShape, scrollShape, searching } from "@atrium/contract/rest/lists.ts";
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { following, scrolling, sorting, toPage } from "../../http/lists.ts";
import { idOf } from "../../platform/d1/rights.ts";
import { deleteFile, uploadFile } from "./commands.ts";
import type { FileContext } from "./context.ts";
import { findFiles, listFiles } from "./queries.ts";
import { serveFile } from "./serving.ts";
import { parseTypeFilter } from "./storage/media-type.ts";
import { FILE_TOO_LARGE } from "./upload.ts";

/** All filters are one parameter of the statement, so this bounds its work, not its shape. */
const MAX_TYPE_FILTERS = 100;

const TypeFilter = z
  .string()
  .max(255)
  .transform((value, context) => {
    const filter = parseTypeFilter(value);
    if (filter === null)
      context.addIssue("must be a type such as image/png, or a category such as image/ or image/*");
    return filter ?? z.NEVER;
  })
  .meta({ override: { type: "string", maxLength: 255, example: "image/" } });

const { endpoint, formEndpoint, rawEndpoint } = endpointsFor<FileContext>({ module: "Files" });

/** The bytes of a form beside its file: fields, headers and an ignored preamble. */
const MAX_OVERHEAD_BYTES = 1024 * 1024;

const { parameter: sort, orderOf } = sorting("Files", "uploadedAt", "filename", "size");

const FileQuery = z.object({
  roomId: z.string().min(1).meta({ description: "The files' room." }),
  ...scrolling,
  ...sort,
  mimeType: z.array(TypeFilter).max(MAX_TYPE_FILTERS).default([]).meta({
    description:
      "Only files of this type, compared without parameters and case-insensitively; `image/` and `image/*` mean all images. Repeat it to match any of several types.",
  }),
  userId: z.string().optional().meta({ description: "Only files that this user uploaded." }),
});

/** The authentication reads it from the address, before the form. */
const InRoom = z.object({
  roomId: z.uuid().optional().meta({
    description: "The room of the file, for an identity's token and an API key for certain rooms.",
  }),
});

const UploadForm = UploadFields.extend({
  file: z.string().meta({
    description: "The file, with its name and type in the headers of its form part.",
    override: { type: "string", contentMediaType: "application/octet-stream" },
  }),
}).meta({ id: "UploadForm" });

const SERVED = `HEAD returns the same headers without the bytes. Anyone who knows the key can read the file, from any origin, so \`<img src>\` works.
A key's content never changes, so it can be cached forever; a deleted file is gone at once, except from caches that hold it.

A single \`Range\` is served; a malformed range or a list of several is ignored. \`If-Range\` takes an \`ETag\` or the time of
\`Last-Modified\`. \`If-Match\`, \`If-None-Match\`, \`If-Unmodified-Since\` and \`If-Modified-Since\` work as RFC 9110 says.

Common image, audio and video formats are served inline; all others as attachments with their file name.
Every response carries \`nosniff\` and \`Content-Security-Policy: sandbox; default-src 'none'\`. Scripts and style
sheets are served as \`application/octet-stream\`, so that no page can execute them.`;

export const endpoints = [
  endpoint({
    method: "GET",
    path: "/files",
    operation: "listFiles",
    sdk: [
      "files.list(roomId, filter?: Scroll & FileFilter & FileSort): data",
      "files.each(roomId, filter?: FileFilter & FileSort): each files",
    ],
    right: "read",
    mayBeStale: true,
    summary: "List a room's files",
    details:
      "Newest first, or in the order of `sort`; of file names without regard to the case of ASCII letters. A user's JWT gives access to its own room.",
    errors: ["NOT_FOUND"],
    query: FileQuery,
    done: "Files retrieved",
    data: z.object({ files: z.array(StorageFile), ...scrollShape }),
    handle: (ctx, { query }) =>
      listFiles(
        ctx,
        query.roomId,
        {
          mediaTypes: query.mimeType,
          uploadedBy: query.userId === undefined ? null : idOf(ctx, query.userId),
        },
        toPage(query, orderOf(query)),
      ),
  }),
  formEndpoint({
    method: "POST",
    path: "/upload",
    operation: "uploadFile",
    sdk: "files.upload(roomId, { userId, file, filename }): file",
    right: "files:write",
    summary: "Upload a file",
    details: `A file can have up to ${MAX_FILE_BYTES / 1024 ** 2} MiB and any type. Send \`roomId\` and \`userId\` before \`file\` in the form; after it, they work for files up to 8 MiB only.

The file name is cleaned: folders, control characters and text direction marks are removed, and the name is converted to
composed form (NFC) and shortened before its extension to 255 bytes of UTF-8. \`filename*\` takes precedence over \`filename\`.
A missing or malformed type becomes \`application/octet-stream\`.

Other fields of the form are refused, and so are parts with an encoding such as Base64. A form can have up to 32 parts and take up to 30 minutes.
The file becomes visible when it is complete; an upload that fails leaves nothing behind.

A user's JWT uploads as that user; viewers cannot upload. A closed room rejects uploads with 403. Closing a room lets running
uploads finish; deleting it makes them fail. With an \`Idempotency-Key\`, a retry must repeat the fields, name, type and bytes,
but not the form's boundary.

A deployment without storage for files refuses uploads and reads with 403.`,
    errors: ["NOT_FOUND"],
    query: InRoom,
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
    sdk: "files.delete(key, roomId?)",
    right: "files:write",
    summary: "Delete a file",
    details:
      "When this returns, the file can no longer be read. A user's JWT deletes only files that the user uploaded; viewers cannot delete.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    body: FileDeletion,
    done: "File deleted",
    data: z.object({ key: z.string().meta({ description: "The deleted key." }) }),
    audit: { resource: "file", id: ({ body }) => body.key },
    handle: (ctx, { body }) => deleteFile(ctx, body.key),
  }),
  rawEndpoint({
    method: "GET",
    path: "/storage/*fileKey",
    operation: "readFile",
    insteadOfSdk: "The file's `url` is all that reading takes: in an `<img>`, a link or a `fetch`.",
    right: "public",
    summary: "Read a file",
    details: SERVED,
    errors: ["FORBIDDEN", "NOT_FOUND"],
    answers: {
      200: "The file.",
      206: "The part of the file that `Range` asks for.",
      304: "The file is the one that `If-None-Match` or `If-Modified-Since` names.",
      412: "The file is not the one that `If-Match` or `If-Unmodified-Since` names.",
      416: "The file has no byte of the `Range`; `Content-Range` has its size.",
    },
    respond: (ctx, { params }, request) => serveFile(ctx, params.fileKey, request),
  }),
  endpoint({
    method: "GET",
    path: "/organization/files",
    operation: "findFiles",
    sdk: [
      'files.find(filter?: FileSearch & Pick<Scroll, "limit" | "after">): data',
      "files.eachFound(filter?: FileSearch): each files",
    ],
    mayBeStale: true,
    summary: "Find files of all rooms by name",
    details:
      "Newest first. A request reads the names of at most 5,000 files: while `cursor` is not null, a page may have fewer files than `limit`, or none, and the search goes on behind it.",
    query: z.object({
      ...following,
      ...searching("the file's name"),
      roomId: z.string().min(1).optional().meta({ description: "Only files of this room." }),
      userId: z.string().min(1).optional().meta({
        description: "Only files that this user uploaded, or `workflow:` and the id of a workflow.",
      }),
    }),
    done: "Files retrieved",
    data: z.object({ files: z.array(FoundFile), ...cursorShape }),
    handle: (ctx, { query }) =>
      findFiles(
        ctx,
        { roomId: query.roomId ?? null, uploadedBy: query.userId ?? null },
        toPage({ ...query, offset: 0 }),
      ),
  }),
];
