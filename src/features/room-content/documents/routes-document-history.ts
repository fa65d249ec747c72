/** The endpoints of the history of a room's documents. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import { DocumentVersion, NamedAuthor, TrailEntry, wholeNumber } from "@atrium/contract/rest/documents.ts";
import { paging } from "@atrium/contract/rest/lists.ts";
import { text } from "@atrium/contract/text.ts";
import * as z from "zod";
import { endpointsFor } from "../../../http/endpoint.ts";
import { idOf } from "../../../platform/d1/rights.ts";
import type { RoomContext } from "../../rooms/context.ts";
import {
  createVersion,
  deleteVersion,
  listVersions,
  readTrail,
  renameVersion,
  restoreVersion,
  rollBackAuthor,
} from "./history-commands.ts";
import { presentEntry, presentVersion } from "./present.ts";

const { endpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const Before = wholeNumber.default(Number.MAX_SAFE_INTEGER).meta({
  description: "The `next` of an earlier page: only what is older.",
  override: { type: "integer", minimum: 0 },
});

const historyQuery = z.object({ limit: paging.limit, before: Before });
const nextShape = {
  next: z.int().nullable().meta({
    description: "Goes into `before` to read the page that follows; null on the last one.",
    example: null,
  }),
};

const DOCUMENT_PATH = "/rooms/:roomId/documents/:document";
const VersionName = text(1, DOCUMENT_LIMITS.versionNameLength).meta({ example: "Draft" });

export const endpoints = [
  endpoint({
    right: "read",
    method: "GET",
    path: `${DOCUMENT_PATH}/trail`,
    operation: "getDocumentTrail",
    sdk: "documents.trail(roomId, document, options?: HistoryOptions): data",
    summary: "List who wrote what in a document",
    details:
      "Newest first: what one author wrote in a row, within a minute, is one entry. Changes older than 30 days, or the days that the deployment sets, are one entry between two versions, with all of its authors.",
    errors: ["NOT_FOUND"],
    query: historyQuery,
    done: "Trail retrieved",
    data: z.object({ trail: z.array(TrailEntry), ...nextShape }),
    handle: async (ctx, { params, query }) => {
      const trail = await readTrail(ctx, params, { before: query.before, limit: query.limit });
      const last = trail.at(-1);
      const first = last === undefined ? 1 : last.seq - last.updates + 1;
      const next = trail.length < query.limit || first === 1 ? null : first;
      return { trail: trail.map(presentEntry), next };
    },
  }),
  endpoint({
    right: "documents:write",
    method: "POST",
    path: `${DOCUMENT_PATH}/rollback`,
    operation: "rollBackDocument",
    sdk: "documents.rollBack(roomId, document, options: RollbackOptions): applied",
    summary: "Take back what one author wrote in a document",
    details:
      "Between two versions, or since one. An edit like any other: everyone who has the document open receives it, and the document as it was before becomes a version. The edit deletes the author's insertions, except for elements in which others have written. It writes the author's deletions again, unless they have been written already, or others have deleted or replaced their place. Changes that are so old that only all of their authors are known stay.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The document is too large for a comparison of the two versions, or it is rolled back or restored at the same time.",
      "Choose closer versions, or read the document and try again.",
    ],
    body: z
      .strictObject({
        userId: text(1, 255).optional(),
        author: NamedAuthor.optional().meta({
          description: "In place of `userId`: any author of the trail.",
        }),
        from: z.int().min(0).default(0).meta({
          description: "The number of a version: what was written after it. 0 for all that the user wrote.",
        }),
        to: z.int().min(1).nullable().default(null).meta({
          description:
            "The number of a later version, up to which it was written; null for all since `from`.",
        }),
      })
      .refine(({ userId, author }) => (userId === undefined) !== (author === undefined), {
        error: "needs either userId or author",
      })
      .meta({ id: "DocumentRollback", example: { userId: "5f0c2a4e-8f4e-4a39-9e0d-4f3b8f7f6a11", from: 0 } }),
    done: "Document rolled back",
    data: z.object({
      applied: z.boolean().meta({ description: "False if there was nothing to take back." }),
    }),
    handle: async (ctx, { params, body }) => ({
      applied: await rollBackAuthor(ctx, params, {
        ...body,
        author: body.author ?? { type: "user", id: idOf(ctx, body.userId ?? "") },
      }),
    }),
  }),
  endpoint({
    right: "read",
    method: "GET",
    path: `${DOCUMENT_PATH}/versions`,
    operation: "listDocumentVersions",
    sdk: "documents.versions(roomId, document, options?: HistoryOptions): data",
    summary: "List the versions of a document",
    details:
      "Newest first. The room makes a version by itself before the first change after two minutes of quiet, and after five minutes of editing. It drops these versions when the trail is no longer kept minute by minute. Read one with the parameter `version` of the document's own endpoints.",
    errors: ["NOT_FOUND"],
    query: historyQuery,
    done: "Versions retrieved",
    data: z.object({ versions: z.array(DocumentVersion), ...nextShape }),
    handle: async (ctx, { params, query }) => {
      const versions = await listVersions(ctx, params, { before: query.before, limit: query.limit });
      const next = versions.length < query.limit ? null : (versions.at(-1)?.seq ?? null);
      return { versions: versions.map(presentVersion), next };
    },
  }),
  endpoint({
    right: "documents:write",
    method: "POST",
    path: `${DOCUMENT_PATH}/versions`,
    operation: "createDocumentVersion",
    sdk: "documents.createVersion(roomId, document, name): version",
    summary: "Name the document as it is now",
    details: `A named version is kept for good.`,
    errors: ["NOT_FOUND"],
    conflict: [
      `Nothing has changed since another named version, or ${DOCUMENT_LIMITS.namedVersions} are named already.`,
      "Rename the version that exists, or delete one first.",
    ],
    body: z
      .strictObject({ name: VersionName })
      .meta({ id: "DocumentVersionInput", example: { name: "Draft" } }),
    status: 201,
    done: "Version created",
    data: z.object({ version: DocumentVersion }),
    handle: async (ctx, { params, body }) => ({
      version: presentVersion(await createVersion(ctx, params, body.name)),
    }),
  }),
  endpoint({
    right: "documents:write",
    method: "PATCH",
    path: `${DOCUMENT_PATH}/versions/:version`,
    operation: "updateDocumentVersion",
    sdk: "documents.renameVersion(roomId, document, version: number, name): version",
    summary: "Name a version, rename it, or take its name",
    details: "With `name: null` it is as if the room had made it by itself.",
    errors: ["NOT_FOUND"],
    conflict: [
      `The document has ${DOCUMENT_LIMITS.namedVersions} named versions already.`,
      "Delete a named version, or take its name.",
    ],
    body: z
      .strictObject({ name: VersionName.nullable() })
      .meta({ id: "DocumentVersionUpdate", example: { name: "Draft" } }),
    done: "Version updated",
    data: z.object({ version: DocumentVersion }),
    handle: async (ctx, { params, body }) => ({
      version: presentVersion(await renameVersion(ctx, params, body.name)),
    }),
  }),
  endpoint({
    right: "documents:write",
    method: "DELETE",
    path: `${DOCUMENT_PATH}/versions/:version`,
    operation: "deleteDocumentVersion",
    isForAgents: false,
    sdk: "documents.deleteVersion(roomId, document, version: number)",
    summary: "Delete a version",
    details: "Nothing of what was written is deleted.",
    errors: ["NOT_FOUND"],
    conflict: ["The document is the fork of a suggestion.", "Withdraw the suggestion."],
    done: "Version deleted",
    data: z.object({}),
    handle: async (ctx, { params }) => {
      await deleteVersion(ctx, params);
      return {};
    },
  }),
  endpoint({
    right: "documents:write",
    method: "POST",
    path: `${DOCUMENT_PATH}/versions/:version/restore`,
    operation: "restoreDocumentVersion",
    sdk: "documents.restoreVersion(roomId, document, version: number): applied",
    summary: "Bring a document back to a version",
    details:
      "An edit like any other: everyone who has the document open receives it, and the document as it was before becomes a version. The writes of others stay from the moment on at which the service reads the document for it: an edit that arrives after the call and before that moment is taken back too.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The document is above 2 MiB or 200,000 items, or it is restored or rolled back at the same time.",
      "Read the document and try again; a large one can be written by an update.",
    ],
    done: "Version restored",
    data: z.object({
      applied: z.boolean().meta({ description: "False if the document showed the same already." }),
    }),
    handle: async (ctx, { params }) => ({ applied: await restoreVersion(ctx, params) }),
  }),
];
