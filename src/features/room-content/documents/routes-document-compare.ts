/** The endpoint that compares two versions of a document. */
import * as z from "zod";
import { endpointsFor } from "../../../http/endpoint.ts";
import { SHARED_TYPES } from "../../../room/documents/updates/built-document.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { DocumentChange, presentChange } from "./comparison-schema.ts";
import { compareVersions } from "./document-comparison-commands.ts";
import { wholeNumber } from "./whole-number.ts";

const { endpoint } = endpointsFor<RoomContext>();

export const documentCompareEndpoint = endpoint({
  module: "Rooms",
  access: "member",
  method: "GET",
  path: "/rooms/:roomId/documents/:document/compare",
  operation: "compareDocumentVersions",
  summary: "Compare two versions of a document",
  details:
    "What differs in one of its shared types, and whose change it is; nothing when both show the same. A text or XML is one change with segments; of maps and arrays, each entry is one. Applied in their order, the changes lead from one version to the other. `CONFLICT` for a document above 2 MiB or 200,000 items (read the updates of both versions instead), for more than 4 MiB or 50,000 entries of the trail between the versions, for more than 200 levels of nesting, and for a response of more than 8 MiB.",
  errors: ["NOT_FOUND", "CONFLICT"],
  query: z.object({
    from: wholeNumber.default(0).meta({
      description: "The number of the earlier version; 0 for the document before anything was written.",
      override: { type: "integer", minimum: 0 },
    }),
    to: wholeNumber.optional().meta({
      description: "The number of the later version; the document as it is if it is left out.",
      override: { type: "integer", minimum: 1 },
    }),
    root: z.string().min(1).max(255).default("default").meta({ description: "The name of the shared type." }),
    type: z.enum(SHARED_TYPES).default("text").meta({ description: "What it is." }),
  }),
  status: 200,
  done: "Versions compared",
  data: z.object({ changes: z.array(DocumentChange) }),
  handle: async (ctx, { params, query }) => {
    const changes = await compareVersions(ctx, params, { ...query, to: query.to ?? null });
    return { changes: changes.map(presentChange) };
  },
});
