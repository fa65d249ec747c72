/** The endpoints of the versions of a room's documents. */
import * as z from "zod";
import { endpointsFor } from "../../../http/endpoint.ts";
import { text } from "../../../platform/text.ts";
import { MAX_NAMED_VERSIONS, MAX_VERSION_NAME_LENGTH } from "../../../room/documents/updates/limits.ts";
import type { RoomContext } from "../../rooms/context.ts";
import {
  createVersion,
  deleteVersion,
  listVersions,
  renameVersion,
  restoreVersion,
} from "./history-commands.ts";
import { historyQuery, nextShape } from "./routes-document-history.ts";
import { DocumentVersion, presentVersion } from "./schema.ts";

const { endpoint } = endpointsFor<RoomContext>();

const VersionName = text(1, MAX_VERSION_NAME_LENGTH).meta({ example: "Draft" });

const common = { module: "Rooms", access: "member" } as const;
const DOCUMENT_PATH = "/rooms/:roomId/documents/:document";

export const documentVersionEndpoints = [
  endpoint({
    ...common,
    method: "GET",
    path: `${DOCUMENT_PATH}/versions`,
    operation: "listDocumentVersions",
    summary: "List the versions of a document",
    details:
      "Newest first. The room makes one by itself before the first change after two minutes of quiet, and after five minutes of editing, and drops it when the trail is no longer kept minute by minute. Read one with the parameter `version` of the document's own endpoints.",
    errors: ["NOT_FOUND"],
    query: historyQuery,
    status: 200,
    done: "Versions retrieved",
    data: z.object({ versions: z.array(DocumentVersion), ...nextShape }),
    handle: async (ctx, { params, query }) => {
      const versions = await listVersions(ctx, params, { before: query.before, limit: query.limit });
      const next = versions.length < query.limit ? null : (versions.at(-1)?.seq ?? null);
      return { versions: versions.map(presentVersion), next };
    },
  }),
  endpoint({
    ...common,
    method: "POST",
    path: `${DOCUMENT_PATH}/versions`,
    operation: "createDocumentVersion",
    summary: "Name the document as it is now",
    details: `A named version is kept for good. \`CONFLICT\` when nothing has changed since another named one, or ${MAX_NAMED_VERSIONS} are named already.`,
    errors: ["NOT_FOUND", "CONFLICT"],
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
    ...common,
    method: "PATCH",
    path: `${DOCUMENT_PATH}/versions/:version`,
    operation: "updateDocumentVersion",
    summary: "Name a version, rename it, or take its name",
    details: "With `name: null` it is as if the room had made it by itself.",
    errors: ["NOT_FOUND", "CONFLICT"],
    body: z
      .strictObject({ name: VersionName.nullable() })
      .meta({ id: "DocumentVersionUpdate", example: { name: "Draft" } }),
    status: 200,
    done: "Version updated",
    data: z.object({ version: DocumentVersion }),
    handle: async (ctx, { params, body }) => ({
      version: presentVersion(await renameVersion(ctx, params, body.name)),
    }),
  }),
  endpoint({
    ...common,
    method: "DELETE",
    path: `${DOCUMENT_PATH}/versions/:version`,
    operation: "deleteDocumentVersion",
    summary: "Delete a version",
    details: "Nothing of what was written is deleted.",
    errors: ["NOT_FOUND"],
    status: 200,
    done: "Version deleted",
    data: z.object({}),
    handle: async (ctx, { params }) => {
      await deleteVersion(ctx, params);
      return {};
    },
  }),
  endpoint({
    ...common,
    method: "POST",
    path: `${DOCUMENT_PATH}/versions/:version/restore`,
    operation: "restoreDocumentVersion",
    summary: "Bring a document back to a version",
    details:
      "An edit like any other: everyone who has the document open receives it, and the document as it was before becomes a version. What others write stays from the moment on at which the service reads the document for it: an edit that arrives after the call and before that moment is taken back too. `CONFLICT` for a document above 2 MiB or 200,000 items, and when it is restored or rolled back at the same time.",
    errors: ["NOT_FOUND", "CONFLICT"],
    status: 200,
    done: "Version restored",
    data: z.object({
      applied: z.boolean().meta({ description: "False if the document showed the same already." }),
    }),
    handle: async (ctx, { params }) => ({ applied: await restoreVersion(ctx, params) }),
  }),
];
