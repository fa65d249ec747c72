/** The endpoint that finds files by their names. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { following, searching, toPage } from "../../http/lists/paginate.ts";
import { cursorShape } from "../../http/lists/presented-page.ts";
import type { FileContext } from "./context.ts";
import { findFiles } from "./find-queries.ts";
import { FoundFile } from "./schema.ts";

const { endpoint } = endpointsFor<FileContext>();

export const fileSearchEndpoints = [
  endpoint({
    method: "GET",
    path: "/organization/files",
    operation: "findFiles",
    module: "Files",
    access: "organization",
    mayBeStale: true,
    summary: "Find files of all rooms by name",
    details:
      "Newest first. A request reads the names of at most 5,000 files: while `cursor` is not null, a page may have fewer files than `limit`, or none, and the search goes on behind it.",
    errors: [],
    query: z.object({
      ...following,
      ...searching("the file's name"),
      roomId: z.string().min(1).optional().meta({ description: "Only files of this room." }),
      userId: z.string().min(1).optional().meta({
        description: "Only files that this user uploaded, or `workflow:` and the id of a workflow.",
      }),
    }),
    status: 200,
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
