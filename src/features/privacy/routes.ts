/** The endpoints that export and erase what is kept of a user. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { personEndpoint } from "../people/context.ts";
import { InRoom } from "../users/schema.ts";
import { deleteMe, erasePersonalData } from "./commands.ts";
import { exportMe } from "./person-queries.ts";
import {
  decodeExportPosition,
  type ExportPosition,
  getPersonalData,
  type PrivacyContext,
} from "./queries.ts";
import { ExportRequest, PersonalData, PersonDeletion } from "./schema.ts";

const { endpoint } = endpointsFor<PrivacyContext>({ module: "Users" });

const START: ExportPosition = { section: "user", after: null };
const MAX_CURSOR_LENGTH = 1024;

const After = z
  .string()
  .max(MAX_CURSOR_LENGTH)
  .transform((value, context) => {
    const position = decodeExportPosition(value);
    if (position === null)
      context.addIssue("must be the `cursor` of an earlier page; leave it out to start at the first");
    return position ?? z.NEVER;
  })
  .optional()
  .meta({
    description: "The `cursor` of an earlier page: what follows it.",
    override: { type: "string", maxLength: MAX_CURSOR_LENGTH, example: "WyJzZXNzaW9ucyIsbnVsbF0" },
  });

export const privacyEndpoints = [
  endpoint({
    method: "GET",
    path: "/users/:userId/personal-data",
    operation: "getPersonalData",
    summary: "Export what is kept of a user",
    details:
      "Page by page, until `cursor` is null. It also finds what is left of a user who was deleted. Stores and the contents of documents are the room's: they do not say who wrote what.",
    errors: ["NOT_FOUND"],
    query: InRoom.extend({ after: After }),
    done: "Personal data retrieved",
    data: PersonalData,
    handle: (ctx, { params, query }) =>
      getPersonalData(ctx, query.roomId, params.userId, query.after ?? START),
  }),
  endpoint({
    method: "DELETE",
    path: "/users/:userId/personal-data",
    operation: "erasePersonalData",
    summary: "Delete a user with what is kept of it",
    details:
      "Deletes the user as `DELETE /users/:userId` does, and erases what names the user: sessions, comments, mentions, reactions, files, and in the event log the name, picture, custom ID, and texts. Only the ID stays, which leads to no one. Cannot be undone; repeating it is harmless, and also erases what an earlier deletion of the user left.",
    errors: ["NOT_FOUND"],
    query: InRoom,
    done: "Personal data erased",
    data: z.object({}),
    audit: { resource: "user", id: ({ params }) => params.userId },
    handle: (ctx, { params, query }) => erasePersonalData(ctx, query.roomId, params.userId),
  }),
];

export const personPrivacyEndpoints = [
  personEndpoint({
    method: "POST",
    path: "/me/export",
    body: ExportRequest,
    done: "Data exported",
    handle: (ctx, { body }) => exportMe(ctx, body.after),
  }),
  personEndpoint({
    method: "POST",
    path: "/me/delete",
    body: PersonDeletion,
    done: "Account deleted",
    handle: (ctx, { body }) => deleteMe(ctx, body.password),
  }),
];
